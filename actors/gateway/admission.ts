import type { Clock, Timer } from '../../core/clock.ts';
import { isErrorCode, TokenrailError } from '../../core/errors.ts';
import type { RandomSource } from '../../core/random.ts';
import type { Reject } from '../../transport/messages.ts';

export interface AdmissionOptions {
  clock: Clock;
  random: RandomSource;
  admitTimeoutMs: number;
  /** Publishes the Admit, the same each time. */
  send: () => void;
  onHome: (replica: string) => void;
  onFailed: (error: TokenrailError) => void;
}

const MAX_SENDS = 3;
const MAX_REJECTS = 3;
/** Pause before a refused request knocks again, doubled each time, with up to as much jitter on top. */
const RETRY_MS = 25;

/**
 * Finds a home for one request. The Admit goes out again when nobody answers in time (homes know requests
 * by id, so this starts nothing twice at one replica) or when the home that got it is full.
 */
export class Admission {
  private readonly options: AdmissionOptions;
  private replica: string | undefined;
  private sends = 0;
  private rejects = 0;
  private timer: Timer | undefined;
  private closed = false;
  private heardOf = false;

  constructor(options: AdmissionOptions) {
    this.options = options;
  }

  get home(): string | undefined {
    return this.replica;
  }

  start(): void {
    this.sendOnce();
  }

  /** The first replica to accept is the home; `duplicate` = another one accepted as well. */
  onAdmitted(replica: string): 'home' | 'known' | 'duplicate' {
    if (this.replica !== undefined) return this.replica === replica ? 'known' : 'duplicate';
    this.replica = replica;
    this.timer?.cancel();
    this.options.onHome(replica);
    return 'home';
  }

  /** Tokens came although no answer did: the answer was lost or is late, the request is in work. */
  onTokens(): void {
    this.heardOf = true;
  }

  onReject(message: Reject): void {
    if (this.replica !== undefined || this.closed) return;
    this.rejects += 1;
    if (!message.retryable || this.rejects >= MAX_REJECTS) {
      const code = isErrorCode(message.code) ? message.code : 'internal';
      return this.fail(new TokenrailError(code, message.message));
    }
    const pauseMs = RETRY_MS * 2 ** (this.rejects - 1) * (1 + this.options.random());
    this.arm(pauseMs, () => this.sendOnce());
  }

  onNoResponders(): void {
    if (this.replica !== undefined || this.heardOf || this.closed) return;
    this.fail(
      new TokenrailError(
        'model_unavailable',
        'No replica of the home model is there: it may still be loading.',
      ),
    );
  }

  close(): void {
    this.closed = true;
    this.timer?.cancel();
  }

  private sendOnce(): void {
    if (this.closed) return;
    this.sends += 1;
    this.arm(this.options.admitTimeoutMs, () => this.onTimeout());
    this.options.send();
  }

  private onTimeout(): void {
    if (this.sends < MAX_SENDS + this.rejects) return this.sendOnce();
    if (this.heardOf) return;
    this.fail(new TokenrailError('model_unavailable', 'No replica of the home model answered in time.'));
  }

  private arm(delayMs: number, callback: () => void): void {
    this.timer?.cancel();
    this.timer = this.options.clock.setTimer(delayMs, callback);
  }

  private fail(error: TokenrailError): void {
    this.close();
    this.options.onFailed(error);
  }
}
