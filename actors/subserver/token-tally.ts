/**
 * Tokens of a whole system, estimated from those of one replica. What was counted since the last look is scaled by the
 * requests that live elsewhere at the moment; scaling the whole count would make each change of that ratio look like
 * thousands of tokens.
 */
export class TokenTally {
  private total = 0;
  private booked = 0;

  /**
   * @param counted tokens of this replica, since any beginning
   * @param scale requests alive in the system per request alive here
   * @returns tokens of the system, since any beginning
   */
  observe(counted: number, scale: number): number {
    this.total += (counted - this.booked) * scale;
    this.booked = counted;
    return this.total;
  }
}
