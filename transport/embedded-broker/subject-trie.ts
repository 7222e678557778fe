import type { MatchResult, Subscription } from './subscription.ts';

interface TrieNode {
  literal: Map<string, TrieNode>;
  /** Below `*`. */
  star: TrieNode | undefined;
  /** Subscriptions that end here. */
  ending: Set<Subscription>;
  /** Subscriptions that end here with `>`. */
  full: Set<Subscription>;
}

const newNode = (): TrieNode => ({ literal: new Map(), star: undefined, ending: new Set(), full: new Set() });

const isEmpty = (node: TrieNode): boolean =>
  node.literal.size === 0 && node.star === undefined && node.ending.size === 0 && node.full.size === 0;

/** Subjects whose matches are remembered; all are forgotten when subscriptions change or the cache is full. */
const MAX_CACHED_SUBJECTS = 4096;

/** All subscriptions of the broker, by the tokens of their subjects. */
export class SubjectTrie {
  private readonly root = newNode();
  private readonly cache = new Map<string, MatchResult>();
  private count = 0;

  /** Number of subscriptions. */
  get size(): number {
    return this.count;
  }

  add(subscription: Subscription): void {
    let node = this.root;
    for (const token of subscription.tokens) {
      if (token === '>') break;
      node = token === '*' ? (node.star ??= newNode()) : this.child(node, token);
    }
    this.setOf(node, subscription).add(subscription);
    this.count += 1;
    this.cache.clear();
  }

  remove(subscription: Subscription): void {
    const path = [this.root];
    for (const token of subscription.tokens) {
      if (token === '>') break;
      const node = path[path.length - 1];
      const next = token === '*' ? node?.star : node?.literal.get(token);
      if (next === undefined) return;
      path.push(next);
    }
    const last = path[path.length - 1];
    if (last === undefined || !this.setOf(last, subscription).delete(subscription)) return;
    this.count -= 1;
    this.cache.clear();
    this.prune(path, subscription.tokens);
  }

  /** Who gets a message on `subject` (without wildcards). */
  match(subject: string): MatchResult {
    const cached = this.cache.get(subject);
    if (cached !== undefined) return cached;
    const result = group(this.collect(subject.split('.')));
    if (this.cache.size >= MAX_CACHED_SUBJECTS) this.cache.clear();
    this.cache.set(subject, result);
    return result;
  }

  private child(node: TrieNode, token: string): TrieNode {
    let child = node.literal.get(token);
    if (child === undefined) node.literal.set(token, (child = newNode()));
    return child;
  }

  private setOf(node: TrieNode, subscription: Subscription): Set<Subscription> {
    return subscription.tokens[subscription.tokens.length - 1] === '>' ? node.full : node.ending;
  }

  /** Removes nodes that hold nothing any more, from the leaf up. */
  private prune(path: readonly TrieNode[], tokens: readonly string[]): void {
    for (let depth = path.length - 1; depth > 0; depth -= 1) {
      const node = path[depth];
      const parent = path[depth - 1];
      const token = tokens[depth - 1];
      if (node === undefined || parent === undefined || token === undefined || !isEmpty(node)) return;
      if (token === '*') parent.star = undefined;
      else parent.literal.delete(token);
    }
  }

  private collect(tokens: readonly string[]): Subscription[] {
    const found: Subscription[] = [];
    let level: TrieNode[] = [this.root];
    for (const token of tokens) {
      const next: TrieNode[] = [];
      for (const node of level) {
        for (const subscription of node.full) found.push(subscription);
        const child = node.literal.get(token);
        if (child !== undefined) next.push(child);
        if (node.star !== undefined) next.push(node.star);
      }
      level = next;
    }
    for (const node of level) for (const subscription of node.ending) found.push(subscription);
    return found;
  }
}

function group(found: readonly Subscription[]): MatchResult {
  const plain: Subscription[] = [];
  const groups = new Map<string, Subscription[]>();
  for (const subscription of found) {
    const members = groups.get(subscription.queue);
    if (subscription.queue === '') plain.push(subscription);
    else if (members === undefined) groups.set(subscription.queue, [subscription]);
    else members.push(subscription);
  }
  return { plain, groups: [...groups.values()] };
}
