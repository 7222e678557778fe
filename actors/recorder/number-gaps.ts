/** More replicas than any deployment has at a time. */
const MAX_SENDERS = 4096;

/** Tells from running numbers how much was lost on the way. */
export class NumberGaps {
  private readonly last = new Map<string, number>();

  /**
   * How many numbers of this sender are missing before `number`. The first one heard tells nothing; a number that is not
   * higher than the last one is a sender that has started anew.
   */
  before(sender: string, number: number): number {
    const last = this.last.get(sender);
    this.last.delete(sender);
    this.last.set(sender, number);
    const [oldest] = this.last.keys();
    if (this.last.size > MAX_SENDERS && oldest !== undefined) this.last.delete(oldest);
    return last === undefined || number <= last ? 0 : number - last - 1;
  }
}
