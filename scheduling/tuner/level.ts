import { LuckControl, NO_LUCK, type Luck } from './luck.ts';

/** Weight of the newest window, at least. */
const LEAST_WEIGHT = 0.25;

/** What the best candidate gave of late, with the luck that it had: what others are compared with. */
export class Level {
  private readonly control: LuckControl;
  private tokensPerSecond = 0;
  private luck: Luck = NO_LUCK;

  /** @param before its knowledge of luck goes on */
  constructor(before?: Level) {
    this.control = before?.control ?? new LuckControl();
  }

  get isKnown(): boolean {
    return this.tokensPerSecond > 0;
  }

  /** A rate as a share of the level, as it would be with the same luck. To be asked only of a level that is known. */
  shareOf(tokensPerSecond: number, luck: Luck): number {
    return (tokensPerSecond / this.tokensPerSecond) * Math.exp(-this.control.effect(this.off(luck)));
  }

  /** A window of the best. @param numValues windows since it is the best, this one included */
  observe(tokensPerSecond: number, luck: Luck, numValues: number): void {
    const off = this.off(luck);
    if (numValues > 1 && this.isKnown)
      this.control.observe(Math.log(tokensPerSecond / this.tokensPerSecond), off);
    const weight = Math.max(LEAST_WEIGHT, 1 / numValues);
    this.luck = { own: this.luck.own + weight * off.own, fed: this.luck.fed + weight * off.fed };
    this.tokensPerSecond += weight * (tokensPerSecond - this.tokensPerSecond);
  }

  /** Another one is the best now, which gives so many times as much. */
  scale(factor: number): void {
    this.tokensPerSecond *= factor;
  }

  private off({ own, fed }: Luck): Luck {
    return { own: own - this.luck.own, fed: fed - this.luck.fed };
  }
}
