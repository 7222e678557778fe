/**
 * A number in [0, 1) that depends on its key alone: equal keys give equal draws under any policy, so that policies are
 * compared on the same requests (common random numbers). Two rounds of a 32-bit finalizer (MurmurHash3) per word: fast,
 * and more than good enough to sample queues with; no source of tokens.
 */
export function draw(seed: number, stream: number, counter: number): number {
  let hash = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
  hash = mix(hash ^ Math.imul(stream + 1, 0xc2b2ae35));
  hash = mix(hash ^ Math.imul(counter + 1, 0x27d4eb2f));
  return hash / 0x1_0000_0000;
}

function mix(word: number): number {
  let hash = word;
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  return hash >>> 0;
}

/** A standard normal number, by Box and Muller. */
export function drawNormal(seed: number, stream: number, counter: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - draw(seed, stream, 2 * counter)));
  return radius * Math.cos(2 * Math.PI * draw(seed, stream, 2 * counter + 1));
}
