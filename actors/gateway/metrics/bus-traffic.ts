/** Counts what crosses the bus at a gateway. */
export interface BusTraffic {
  message(direction: 'in' | 'out', kind: string): void;
  /** Messages that were received and not used, by reason. */
  dropped(reason: string, count: number): void;
}
