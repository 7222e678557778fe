/** Lets the steps of one lane through while it is open; what comes while it is closed starts when it opens. */
export class Gate {
  /** Counts openings: what spans two of them was interrupted. */
  epoch = 0;
  private isOpen = false;
  private readonly waiting: (() => void)[] = [];
  private numInFlight = 0;
  private onIdle: (() => void) | undefined;

  pass(start: () => void): void {
    if (this.isOpen) start();
    else this.waiting.push(start);
  }

  entered(): void {
    this.numInFlight += 1;
  }

  left(): void {
    this.numInFlight -= 1;
    if (this.numInFlight === 0) this.onIdle?.();
  }

  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.epoch += 1;
    for (const start of this.waiting.splice(0)) start();
  }

  /** Nothing starts any more. Resolves when what was in flight has ended. */
  close(): Promise<void> {
    this.isOpen = false;
    if (this.numInFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.onIdle = resolve;
    });
  }
}
