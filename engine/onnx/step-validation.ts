import { TokenrailError } from '../../core/errors.ts';
import type { EngineInfo, SignalNeeds, StepBatch, StepRow } from '../engine.ts';
import type { OfferedSignals } from './protocol.ts';

const illegal = (message: string): TokenrailError => new TokenrailError('illegal_state', message);

/**
 * Refuses a batch that the graph would answer with garbage or not at all.
 * @param lengths tokens whose KV each known sequence holds
 * @param offered what the graphs can give
 * @throws TokenrailError `illegal_state`
 */
export function checkBatch(
  batch: StepBatch,
  info: EngineInfo,
  lengths: ReadonlyMap<number, number>,
  offered: OfferedSignals,
): void {
  const { rows, needs } = batch;
  if (rows.length === 0) throw illegal('a step needs at least one row');
  if (rows.length > info.maxNumSeqs) {
    throw illegal(`a step takes at most ${info.maxNumSeqs} rows, got ${rows.length}`);
  }
  if (new Set(rows.map((row) => row.seq)).size < rows.length)
    throw illegal('a sequence occurs twice in one step');
  checkNeeds(needs, offered);
  for (const row of rows) {
    checkRow(row, info, lengths.get(row.seq) ?? 0);
    checkRowNeeds(row, needs);
  }
}

/** What nobody computes for the step cannot be had for one of its rows. */
function checkRowNeeds({ seq, needs }: StepRow, ofStep: SignalNeeds): void {
  const stranger = needs?.heads?.find(({ file }) => !ofStep.heads?.some((head) => head.file === file));
  if (stranger !== undefined)
    throw illegal(`sequence ${seq} needs head ${stranger.file}, which the step does not`);
  if ((needs?.topK ?? 0) > (ofStep.topK ?? 0))
    throw illegal(`sequence ${seq} needs ${needs?.topK} logits, the step ${ofStep.topK ?? 0}`);
}

function checkNeeds(needs: SignalNeeds, { topK, heads }: OfferedSignals): void {
  if ((needs.topK ?? 0) > topK) {
    throw illegal(
      `the graph's top-k has ${topK} entries, ${needs.topK} are needed; declare it when creating the engine`,
    );
  }
  const unknown = needs.heads?.find(({ file }) => !heads.includes(file));
  if (unknown !== undefined)
    throw illegal(`head ${unknown.file} was not loaded; declare it when creating the engine`);
}

function checkRow(row: StepRow, info: EngineInfo, length: number): void {
  const { seq, past, tokens } = row;
  if (tokens.length === 0) throw illegal(`sequence ${seq} brings no token`);
  if (!Number.isInteger(past) || past < 0 || past > length) {
    throw illegal(`sequence ${seq}: past ${past} lies outside the ${length} tokens that were fed`);
  }
  if (past + tokens.length > info.maxModelLenTokens) {
    throw illegal(
      `sequence ${seq}: ${past + tokens.length} tokens exceed the limit of ${info.maxModelLenTokens}`,
    );
  }
  for (const token of tokens) {
    if (!Number.isInteger(token) || token < 0 || token >= info.vocabSize) {
      throw illegal(`sequence ${seq}: token id ${token} is not in 0..${info.vocabSize - 1}`);
    }
  }
}
