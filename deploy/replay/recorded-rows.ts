import { join } from 'node:path';
import { TokenrailError } from '../../core/errors.ts';
import type { SignalNeeds } from '../../engine/engine.ts';
import type { OfflineHeads } from '../../engine/onnx/index.ts';
import type { RouteRow } from '../../routers/router.ts';
import { visibleSignals } from '../../routers/visible-signals.ts';
import type { StepRecord } from '../../transport/messages.ts';
import { fileDigest } from '../file-digest.ts';
import type { RecordingHeader } from '../recording/header.ts';

/** A recorded row and the sequence before its token. */
export interface RecordedRow {
  record: StepRecord;
  tokens: readonly number[];
}

/** Makes rows of one model as its router would have seen them. */
export class RecordedRows {
  private readonly needs: SignalNeeds;
  private readonly router: string;
  private readonly model: RecordingHeader['models'][number];
  private readonly maskIdsFrom: number;
  private readonly digests: ReadonlyMap<string, string>;
  private offline: OfflineHeads | undefined;

  /**
   * @param needs what the router declares at this model
   * @throws TokenrailError `config_invalid` where it needs what no recording holds
   */
  constructor(
    router: string,
    needs: SignalNeeds,
    model: RecordingHeader['models'][number],
    maskIdsFrom: number,
  ) {
    this.router = router;
    this.needs = needs;
    this.model = model;
    this.maskIdsFrom = maskIdsFrom;
    if (needs.logits)
      throw this.lacking('the whole row of logits (needs.logits), which recordings do not hold');
    this.digests = new Map((needs.heads ?? []).map(({ file }) => [file, this.digestOf(file)]));
  }

  /**
   * The rows with the signals that the router declared. Scores that were recorded of the same file are taken as they
   * are; others are computed from what was recorded.
   * @throws TokenrailError `config_invalid` naming the router, what it needs and the step that lacks it
   */
  async rows(recorded: readonly RecordedRow[]): Promise<RouteRow[]> {
    for (const { record } of recorded) this.check(record);
    const scores = await this.scores(recorded.map(({ record }) => record));
    const embedding = this.needs.embedding ? await this.opened() : undefined;
    return recorded.map(({ record, tokens }, i) => {
      const { topValues, topIds, hidden, logSumExp, algo } = record;
      const there = {
        ...(topValues && topIds ? { topValues, topIds } : {}),
        ...(hidden ? { hidden } : {}),
        ...(embedding ? { embedding: embedding.embeddingOf(this.known(record, embedding)) } : {}),
        ...(scores[i] ? { scores: scores[i] } : {}),
      };
      return {
        rid: record.rid,
        position: record.position,
        numGenerated: record.numGenerated,
        sampled: record.sampled,
        logprob: record.logprob,
        entropyNats: record.entropyNats,
        normalizedEntropy: record.normalizedEntropy,
        sampling: record.sampling,
        tokens,
        numSinceArrival: record.numSinceArrival,
        ...(logSumExp === undefined ? {} : { logSumExp }),
        ...visibleSignals(this.needs, there),
        ...(algo === undefined ? {} : { algo }),
      };
    });
  }

  close(): void {
    this.offline?.close();
  }

  private check(record: StepRecord): void {
    const { topK = 0, hidden } = this.needs;
    if (hidden && record.hidden === undefined) throw this.lacking('hidden vectors', record);
    // A model with a smaller vocabulary gives all it has.
    const has = record.topValues?.length ?? 0;
    if (topK > has && has < this.maskIdsFrom) throw this.lacking(`the ${topK} largest logits`, record);
  }

  private async scores(records: readonly StepRecord[]): Promise<Readonly<Record<string, number>>[]> {
    const scores = records.map((): Record<string, number> => ({}));
    for (const [file, digest] of this.digests) {
      const unknown: number[] = [];
      records.forEach((record, i) => {
        const recorded = record.scores?.find((one) => one.digest === digest);
        if (recorded === undefined) unknown.push(i);
        else (scores[i] as Record<string, number>)[file] = recorded.score;
      });
      if (unknown.length === 0) continue;
      const computed = await this.compute(
        file,
        unknown.map((i) => records[i] as StepRecord),
      );
      unknown.forEach((i, n) => ((scores[i] as Record<string, number>)[file] = computed[n] ?? NaN));
    }
    return scores;
  }

  private async compute(file: string, records: readonly StepRecord[]): Promise<Float32Array> {
    const offline = await this.opened();
    const { hiddenSize = 0 } = offline.inputsOf(file) ?? {};
    const rows = records.map((record) => {
      const { hidden, topValues = new Float32Array(0) } = record;
      if (hidden === undefined) throw this.lacking(`hidden vectors for ${file}`, record);
      if (hidden.length !== hiddenSize)
        throw this.lacking(`hidden vectors of ${hiddenSize} numbers, there are ${hidden.length}`, record);
      if (topValues.length < offline.topK) throw this.lacking(`the ${offline.topK} largest logits`, record);
      return { sampled: this.known(record, offline), hidden, topValues };
    });
    return offline.score(file, rows);
  }

  private known(record: StepRecord, { vocabSize }: OfflineHeads): number {
    if (record.sampled < vocabSize) return record.sampled;
    throw this.lacking(`tokens below ${vocabSize}, not ${record.sampled}`, record);
  }

  private async opened(): Promise<OfflineHeads> {
    if (this.offline !== undefined) return this.offline;
    const { path, loadFormat, tokenizer, name } = this.model;
    const found = readDigest(join(path, 'tokenizer.json'));
    if (found !== tokenizer) {
      const problem = found === undefined ? 'cannot be read' : 'has another tokenizer than was recorded';
      throw new TokenrailError(
        'config_invalid',
        `--models: the checkpoint of "${name}", ${path}, ${problem}`,
      );
    }
    const { heads = [], embedding = false } = this.needs;
    // The engine's code is loaded only where something is to be computed.
    const { maskIdsFrom } = this;
    this.offline = (await import('../../engine/onnx/index.ts')).OfflineHeads.open({
      modelDir: path,
      loadFormat,
      heads,
      wantsEmbedding: embedding,
      maskIdsFrom,
    });
    return this.offline;
  }

  private digestOf(file: string): string {
    const digest = readDigest(file);
    if (digest === undefined) throw this.lacking(`the network ${file}, which cannot be read`);
    return digest;
  }

  private lacking(what: string, record?: StepRecord): TokenrailError {
    const where =
      record === undefined
        ? ''
        : `; the recording lacks it at position ${record.position} of request ${record.rid}`;
    return new TokenrailError(
      'config_invalid',
      `router ${this.router} at model "${this.model.name}" needs ${what}${where}`,
      { param: 'router' },
    );
  }
}

function readDigest(path: string): string | undefined {
  try {
    return fileDigest(path);
  } catch {
    return undefined;
  }
}
