import { STAY, type ModelId } from '../../core/request.ts';
import { toTokenrailError } from '../../core/errors.ts';
import { firstChecked } from '../../routers/checked-hooks.ts';
import { routeChecked } from '../../routers/checked-router.ts';
import type { StepRecord } from '../../transport/messages.ts';
import type { RecordingReader } from '../recording/recording-reader.ts';
import { countDecision, newAgreement, type Agreement } from './agreement.ts';
import { DivergenceTally } from './divergence.ts';
import { RecordedRows, type RecordedRow } from './recorded-rows.ts';
import type { RequestDecisions } from './report.ts';
import { RequestBook, type BookedRequest } from './request-book.ts';
import type { Variant } from './variants.ts';

/** Steps that are routed at once, as heads like it. */
const BATCH_STEPS = 256;

/** One variant's results so far. */
export interface VariantTally {
  byModel: ReadonlyMap<ModelId, Agreement>;
  beginnings: { served: number[]; replayed: number[]; same: number };
  failures: number;
  failure: string | undefined;
}

/** Asks routers about the steps of a recording. */
export class Replay {
  readonly tallies: readonly VariantTally[];
  readonly divergence: DivergenceTally;
  readonly perRequest = new Map<string, RequestDecisions>();
  readonly servedBy: Record<string, number> = {};
  numRequests = 0;
  steps = 0;
  incomplete = 0;
  unfinished = 0;
  private readonly reader: RecordingReader;
  private readonly variants: readonly Variant[];
  private readonly book: RequestBook;
  private readonly rowsOf = new Map<ModelId, RecordedRows>();
  private readonly beginnings = new Map<string, (number | undefined)[]>();
  private waiting: RecordedRow[] = [];

  /** @throws TokenrailError `config_invalid` where the router needs what no recording holds */
  constructor(reader: RecordingReader, variants: readonly Variant[]) {
    this.reader = reader;
    this.variants = variants;
    const { models } = reader.header;
    const zeros = (): number[] => new Array<number>(models.length + 1).fill(0);
    this.tallies = variants.map(() => ({
      byModel: new Map(models.map(({ id }) => [id, newAgreement(models.length)])),
      beginnings: { served: zeros(), replayed: zeros(), same: 0 },
      failures: 0,
      failure: undefined,
    }));
    this.divergence = new DivergenceTally(variants.length);
    this.book = new RequestBook((request) => this.closed(request));
  }

  /** Reads to the end. @throws TokenrailError `config_invalid` naming the file, or what the router lacks */
  async run(): Promise<void> {
    try {
      for (let messages = this.reader.next(); messages !== undefined; messages = this.reader.next()) {
        for (const message of messages) {
          if (message.kind === 'step-record') this.take(message);
          else this.book.end(message.rid);
        }
        if (this.waiting.length >= BATCH_STEPS) await this.flush();
      }
      await this.flush();
      this.book.closeAll();
    } finally {
      for (const rows of this.rowsOf.values()) rows.close();
    }
  }

  private take(record: StepRecord): void {
    this.checkModel(record);
    const request = this.book.of(record);
    const { home } = this.reader.header;
    if (record.numGenerated === 0 && request.firstModel !== home) request.firstModel = record.model;
    const tokens = this.book.sequence(record);
    this.servedBy[record.router] = (this.servedBy[record.router] ?? 0) + 1;
    this.steps += 1;
    if (tokens === undefined) {
      this.incomplete += 1;
      return;
    }
    if (record.numGenerated === 0 && !this.beginnings.has(record.rid)) this.begin(record, tokens);
    this.waiting.push({ record, tokens });
    if (record.model !== home && record.isKept)
      this.divergence.guestWrote(record.rid, record.position, record.token);
  }

  private checkModel({ model, destination, rid }: StepRecord): void {
    const { models } = this.reader.header;
    const stranger = [model, destination].find((id) => id > models.length);
    if (stranger !== undefined)
      throw this.reader.wrong(
        `request ${rid}: model ${stranger} is none of the ${models.length} of its header`,
      );
  }

  /** Where each variant has the request begin. */
  private begin({ rid, sampling }: StepRecord, prompt: readonly number[]): void {
    const { home, models } = this.reader.header;
    const view = { rid, tokens: prompt, promptLen: prompt.length, peerLocs: new Map<ModelId, number>() };
    const scope = { self: home, numModels: models.length };
    const choices = this.variants.map(({ routers }, i) => {
      try {
        const router = routers.get(home);
        return router === undefined ? STAY : firstChecked(router, view, sampling, scope);
      } catch (thrown) {
        this.failed(i, thrown);
        return undefined;
      }
    });
    this.beginnings.set(rid, choices);
  }

  private async flush(): Promise<void> {
    const waiting = this.waiting;
    this.waiting = [];
    for (const { id } of this.reader.header.models) {
      const rows = waiting.filter(({ record }) => record.model === id);
      if (rows.length > 0) await this.route(id, rows);
    }
  }

  private async route(model: ModelId, recorded: readonly RecordedRow[]): Promise<void> {
    const rows = await this.recordedRows(model).rows(recorded);
    const scope = { self: model, numModels: this.reader.header.models.length };
    const decisions = this.variants.map(({ routers }, variant): (number | undefined)[] => {
      const router = routers.get(model);
      if (router === undefined) return [];
      const { destinations, failures } = routeChecked(router, rows, scope);
      for (const failure of failures.values()) this.failed(variant, failure);
      return rows.map((_, i) => (failures.has(i) ? undefined : destinations[i]));
    });
    recorded.forEach(({ record }, i) =>
      this.count(
        record,
        decisions.map((ofVariant) => ofVariant[i]),
      ),
    );
  }

  private recordedRows(model: ModelId): RecordedRows {
    let rows = this.rowsOf.get(model);
    if (rows !== undefined) return rows;
    const { models, maskIdsFrom } = this.reader.header;
    const entry = models.find(({ id }) => id === model);
    const router = this.variants[0]?.routers.get(model);
    if (entry === undefined || router === undefined)
      throw this.reader.wrong(`model ${model} is not in its header`);
    // Variants differ in thresholds alone.
    rows = new RecordedRows(router.name, router.needs, entry, maskIdsFrom);
    this.rowsOf.set(model, rows);
    return rows;
  }

  private count(record: StepRecord, decisions: readonly (number | undefined)[]): void {
    const { rid, model, position, destination, token, isKept } = record;
    decisions.forEach((decision, variant) => {
      const agreement = this.tallies[variant]?.byModel.get(model);
      if (agreement && decision !== undefined) countDecision(agreement, destination, decision);
    });
    if (model !== this.reader.header.home) return;
    const ofRequest = this.decisionsOf(rid);
    ofRequest.steps += 1;
    if (destination !== STAY) ofRequest.sentServed += 1;
    const sentBy = decisions.map((decision) => decision !== undefined && decision !== STAY);
    sentBy.forEach(
      (isSent, i) => (ofRequest.sentReplayed[i] = (ofRequest.sentReplayed[i] ?? 0) + Number(isSent)),
    );
    decisions.forEach(
      (decision, i) => (ofRequest.same[i] = (ofRequest.same[i] ?? 0) + Number(decision === destination)),
    );
    if (!isKept) this.divergence.homeDiscarded(rid, position, token, sentBy);
  }

  private decisionsOf(rid: string): RequestDecisions {
    let decisions = this.perRequest.get(rid);
    if (decisions === undefined) {
      const zeros = (): number[] => this.variants.map(() => 0);
      decisions = { rid, steps: 0, sentServed: 0, sentReplayed: zeros(), same: zeros() };
      this.perRequest.set(rid, decisions);
    }
    return decisions;
  }

  private failed(variant: number, thrown: unknown): void {
    const tally = this.tallies[variant];
    if (tally === undefined) return;
    tally.failures += 1;
    tally.failure ??= toTokenrailError(thrown, 'router_failed').message;
  }

  private closed(request: BookedRequest): void {
    if (!request.hasEnded) this.unfinished += 1;
    const { home } = this.reader.header;
    const served = request.firstModel === home ? STAY : (request.firstModel ?? STAY);
    this.beginnings.get(request.rid)?.forEach((replayed, i) => {
      const beginnings = this.tallies[i]?.beginnings;
      if (beginnings === undefined || replayed === undefined) return;
      beginnings.served[served] = (beginnings.served[served] ?? 0) + 1;
      beginnings.replayed[replayed] = (beginnings.replayed[replayed] ?? 0) + 1;
      if (served === replayed) beginnings.same += 1;
    });
    this.beginnings.delete(request.rid);
    this.divergence.forget(request.rid, request.tokens.length, request.promptLen);
    this.numRequests += 1;
  }
}
