import { MARGIN } from '../identity/margin.ts';
import type { Driver, RequestSink, BenchRequest } from '../baselines/driver.ts';
import type { Lab } from '../lab/lab.ts';
import { baselineDriver } from '../lab/modes.ts';

/** What one driver answered, by request id. */
export interface Answer {
  ids: number[];
  models: number[];
  failure?: string;
}

/** The reference's answer: with each token how far the decisions behind it were from falling the other way. */
export interface ReferenceAnswer extends Answer {
  distances: number[];
}

export interface IdentityResult {
  requests: number;
  tokens: number;
  /** Tokens by the guest: without any the comparison would say little. */
  guestTokens: number;
  identical: number;
  /** Answers that differ first where a decision was within {@link MARGIN}: rounding of another batch shape decides there. */
  excused: number;
  mismatches: { id: number; position: number }[];
}

/** Runs requests at a driver, all at once, until all have ended. @throws Error when one takes too long */
export async function answersOf(
  driver: Driver,
  requests: readonly BenchRequest[],
  limitSeconds: number,
): Promise<Map<number, Answer>> {
  const answers = new Map<number, Answer>(requests.map(({ id }) => [id, { ids: [], models: [] }]));
  let numOpen = requests.length;
  let settle: () => void = () => {};
  const done = new Promise<void>((resolve) => (settle = resolve));
  const sink: RequestSink = {
    onTokens: (id, ids, models) => {
      const answer = answers.get(id);
      answer?.ids.push(...ids);
      answer?.models.push(...models);
    },
    onEnd: (id, failure) => {
      const answer = answers.get(id);
      if (answer && failure !== undefined) answer.failure = failure;
      numOpen -= 1;
      if (numOpen === 0) settle();
    },
  };
  await driver.start(sink);
  for (const request of requests) driver.submit(request);
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${driver.name}: ${numOpen} requests open after ${limitSeconds} s`)),
      limitSeconds * 1000,
    );
  });
  await Promise.race([done, limit]).finally(() => clearTimeout(timer));
  return answers;
}

/** Distances of one request's decisions, collected while the sequential loop makes them. */
class Distances {
  readonly all: number[] = [];
  private pending = Infinity;
  private margin = Infinity;
  private toThreshold = Infinity;

  decided(margin: number, toThreshold: number): void {
    this.margin = margin;
    this.toThreshold = toThreshold;
    this.pending = Math.min(this.pending, toThreshold);
  }

  committed(model: number): void {
    this.all.push(Math.min(this.pending, this.margin));
    // A guest's decision to stay or to return says who writes the next token.
    this.pending = model === 1 ? Infinity : this.toThreshold;
  }
}

/** The sequential baseline's answers: one request at a time, one row per step. */
export async function referenceAnswers(
  lab: Lab,
  requests: readonly BenchRequest[],
  limitSeconds: number,
): Promise<Map<number, ReferenceAnswer>> {
  const distances = new Map(requests.map(({ id }) => [id, new Distances()]));
  const { threshold } = lab.pair;
  const bench = lab.bench();
  bench.gate.open();
  const driver = await baselineDriver(lab, bench, 'sequential', ({ request }, margin, entropy) => {
    const toThreshold = threshold === undefined ? Infinity : Math.abs(entropy - threshold);
    distances.get(request.id)?.decided(margin, toThreshold);
  });
  const watched: Driver = {
    name: driver.name,
    start: (sink) =>
      driver.start({
        onTokens: (id, ids, models) => {
          distances.get(id)?.committed(models[0] ?? 1);
          sink.onTokens(id, ids, models);
        },
        onEnd: (id, failure) => sink.onEnd(id, failure),
      }),
    submit: (request) => driver.submit(request),
    close: () => driver.close(),
  };
  try {
    const answers = await answersOf(watched, requests, limitSeconds);
    return new Map(
      [...answers].map(([id, answer]) => [id, { ...answer, distances: distances.get(id)?.all ?? [] }]),
    );
  } finally {
    await driver.close();
  }
}

/** Compares token by token, who wrote each token included. */
export function compareWithReference(
  answers: ReadonlyMap<number, Answer>,
  references: ReadonlyMap<number, ReferenceAnswer>,
): IdentityResult {
  const result: IdentityResult = {
    requests: references.size,
    tokens: 0,
    guestTokens: 0,
    identical: 0,
    excused: 0,
    mismatches: [],
  };
  for (const [id, reference] of references) {
    const answer = answers.get(id) ?? { ids: [], models: [] };
    result.tokens += reference.ids.length;
    result.guestTokens += reference.models.filter((model) => model !== 1).length;
    const length = Math.max(answer.ids.length, reference.ids.length);
    let position = 0;
    const agrees = (at: number): boolean =>
      answer.ids[at] === reference.ids[at] && answer.models[at] === reference.models[at];
    while (position < length && agrees(position)) position += 1;
    if (position === length) result.identical += 1;
    else if ((reference.distances[position] ?? Infinity) < MARGIN) result.excused += 1;
    else result.mismatches.push({ id, position });
  }
  return result;
}
