import type { Timer } from '../../core/clock.ts';
import type { ModelId } from '../../core/request.ts';
import { LiveRequest, type LiveRequestInput } from './live-request.ts';

export interface HomeRequestInput extends Omit<LiveRequestInput, 'role' | 'hop' | 'term'> {
  gateway: string;
  /** Term of the admission: raised by the gateway when it moves the request to another home. */
  clientTerm: number;
}

/** Room for recoveries of guests within one term of the client: terms towards guests stay ordered. */
const TERMS_PER_ADMISSION = 65_536;

/** A request at its home: the client's side on top of what every subserver keeps. */
export class HomeRequest extends LiveRequest {
  readonly gateway: string;
  readonly clientTerm: number;
  deadline: Timer | undefined;
  /** Models that will not take this request, now or later: too long for them, say. */
  readonly refusedBy = new Set<ModelId>();
  /** Moves of the current visit to another replica of a guest. */
  numMoves = 0;
  /** Moves of the request from model to model so far. */
  numHandoffs = 0;

  constructor(input: HomeRequestInput) {
    super({ ...input, role: 'home', hop: 0, term: input.clientTerm * TERMS_PER_ADMISSION });
    this.gateway = input.gateway;
    this.clientTerm = input.clientTerm;
  }
}

export function isHomeRequest(request: LiveRequest): request is HomeRequest {
  return request instanceof HomeRequest;
}
