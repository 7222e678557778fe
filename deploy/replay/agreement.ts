import { STAY } from '../../core/request.ts';

/** How a router's decisions over recorded steps of one model compare with those that were served. */
export interface Agreement {
  steps: number;
  /** Steps by destination, index = model id, 0 = stay. */
  served: number[];
  replayed: number[];
  /** Sent away by both, by one of them, by neither. */
  both: number;
  onlyServed: number;
  onlyReplayed: number;
  neither: number;
  /** Same destination. */
  same: number;
}

export function newAgreement(numModels: number): Agreement {
  const zeros = (): number[] => new Array<number>(numModels + 1).fill(0);
  return {
    steps: 0,
    served: zeros(),
    replayed: zeros(),
    both: 0,
    onlyServed: 0,
    onlyReplayed: 0,
    neither: 0,
    same: 0,
  };
}

export function countDecision(agreement: Agreement, served: number, replayed: number): void {
  agreement.steps += 1;
  agreement.served[served] = (agreement.served[served] ?? 0) + 1;
  agreement.replayed[replayed] = (agreement.replayed[replayed] ?? 0) + 1;
  if (served === replayed) agreement.same += 1;
  if (served !== STAY && replayed !== STAY) agreement.both += 1;
  else if (served !== STAY) agreement.onlyServed += 1;
  else if (replayed !== STAY) agreement.onlyReplayed += 1;
  else agreement.neither += 1;
}
