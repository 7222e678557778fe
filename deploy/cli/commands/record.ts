import type { Command } from 'commander';
import { SystemClock } from '../../../core/system-clock.ts';
import { createLogger } from '../../log.ts';
import { startRecording, type Recording } from '../../recording/run-recording.ts';
import { flagError, numberFlag } from '../../system-options.ts';
import { configOf } from '../config-options.ts';
import { formatBytes } from '../format.ts';
import { requireNatsUrl } from '../run-role.ts';
import { endOnSignals } from '../signals.ts';

interface RecordFlags {
  out?: string;
  requests?: string;
  seconds?: string;
}

const MAX_SECONDS = 1e6;

type Heard = Awaited<Recording['done']>;

function summary(out: string, heard: Heard): string {
  const { requests, ended, steps, sizeBytes, missed, dropped, foreign, late } = heard;
  const nothing = steps + late + foreign + dropped === 0;
  const lines = [
    `${out}: ${requests} requests (${ended} ended), ${steps} steps, ${formatBytes(sizeBytes)}`,
    ...(missed > 0 ? [`  ${missed} records were missed: more was sent than arrived`] : []),
    ...(late > 0
      ? [`  ${late} steps of other requests were left out: begun before, or beyond --requests`]
      : []),
    ...(dropped > 0 ? [`  ${dropped} records could not be read`] : []),
    ...(foreign > 0
      ? [`  ${foreign} records came from a deployment with another configuration: give the same one here`]
      : []),
    ...(nothing
      ? ['  nothing was heard: is the deployment on this broker, with "record: on", and asked anything?']
      : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** `tokenrail record`: until Ctrl-C, or as many requests or seconds as wanted. */
export async function record(command: Command): Promise<void> {
  const { out, requests, seconds } = command.opts<RecordFlags>();
  if (out === undefined) throw flagError('--out', 'is required: the file to write');
  const count = (
    flag: string,
    text: string | undefined,
    max: number,
    isInteger: boolean,
  ): number | undefined =>
    text === undefined ? undefined : numberFlag(flag, text, { min: 0, isMinExcluded: true, max, isInteger });
  const maxRequests = count('--requests', requests, 0xffff_ffff, true);
  const maxSeconds = count('--seconds', seconds, MAX_SECONDS, false);
  const resolved = configOf(command);
  const natsUrl = requireNatsUrl(resolved);
  const logger = createLogger(resolved.config, { name: 'record' });
  const clock = new SystemClock();
  const recording = await startRecording({ resolved, natsUrl, clock, logger, out, maxRequests, maxSeconds });
  const end = (): Promise<void> => Promise.resolve(recording.stop());
  const unlisten = endOnSignals({ drain: end, stop: end }, 0, () => {});
  process.stdout.write(`recording to ${out}; token ids of prompts and answers are kept. Ctrl-C ends it.\n`);
  try {
    process.stdout.write(summary(out, await recording.done));
  } finally {
    unlisten();
  }
}
