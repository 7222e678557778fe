import { toTokenrailError } from '../../core/errors.ts';
import { RecordingReader } from '../recording/recording-reader.ts';
import { flagError } from '../system-options.ts';
import { splitPairs } from '../config/text-forms.ts';
import { Replay } from './replay.ts';
import { labelsOf, LIMIT, withRates, type ReplayReport, type VariantReport } from './report.ts';
import { makeVariants, type RouterText, type Variant } from './variants.ts';

export interface ReplayText extends RouterText {
  in: string;
  /** `NAME=DIR,…`: checkpoints, where they lie elsewhere than on the machine that recorded. */
  models?: string | undefined;
}

function pairsOf(text: string): [string, string][] {
  try {
    return splitPairs(text);
  } catch (thrown) {
    throw flagError('--models', toTokenrailError(thrown).message, thrown);
  }
}

/** The header's checkpoints, moved to where this machine has them. */
function moveCheckpoints(reader: RecordingReader, text: string): void {
  for (const [name, dir] of pairsOf(text)) {
    const model = reader.header.models.find((one) => one.name === name);
    if (model === undefined)
      throw flagError(
        '--models',
        `"${name}" is not one of ${reader.header.models.map((one) => one.name).join(', ')}`,
      );
    model.path = dir;
  }
}

function variantReport(
  replay: Replay,
  variant: Variant,
  index: number,
  reader: RecordingReader,
): VariantReport {
  const tally = replay.tallies[index];
  const divergence = replay.divergence.results[index];
  if (tally === undefined || divergence === undefined) throw new Error('a variant without results');
  const { models, home } = reader.header;
  return {
    label: variant.label,
    threshold: variant.threshold ?? null,
    models: models.flatMap(({ id, name }) => {
      const agreement = tally.byModel.get(id);
      return agreement === undefined ? [] : [{ model: name, isHome: id === home, ...agreement }];
    }),
    beginnings: tally.beginnings,
    divergence: withRates(divergence),
    failures: tally.failures,
    failure: tally.failure ?? null,
  };
}

/**
 * What another router or threshold would have sent where, on recorded steps.
 * @throws TokenrailError `config_invalid` naming the flag, the file or the router at fault
 */
export async function runReplay(text: ReplayText): Promise<ReplayReport> {
  const reader = new RecordingReader(text.in);
  try {
    if (text.models !== undefined) moveCheckpoints(reader, text.models);
    const variants = await makeVariants(text, reader.header);
    const replay = new Replay(reader, variants);
    await replay.run();
    const { header, end } = reader;
    return {
      file: text.in,
      router: text.router ?? header.defaultRouter,
      recordedAt: header.recordedAt,
      configHash: header.configHash,
      servedBy: replay.servedBy,
      models: header.models.map(({ name }) => name),
      labels: labelsOf(header),
      requests: replay.numRequests,
      unfinished: replay.unfinished,
      steps: replay.steps,
      incomplete: replay.incomplete,
      missed: end?.missed ?? null,
      isCut: end === undefined,
      variants: variants.map((variant, i) => variantReport(replay, variant, i, reader)),
      perRequest: [...replay.perRequest.values()],
      limit: LIMIT,
    };
  } finally {
    reader.close();
  }
}
