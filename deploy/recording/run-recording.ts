import { Recorder, type RecorderCounts } from '../../actors/recorder/index.ts';
import type { Clock } from '../../core/clock.ts';
import type { TokenrailError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Logger } from '../../core/log.ts';
import { connectNats } from '../../transport/nats.ts';
import { Subjects } from '../../transport/subjects.ts';
import type { ResolvedConfig } from '../config/deployment.ts';
import { headerOf } from './header.ts';
import { RecordingWriter } from './recording-writer.ts';

export interface RecordingContext {
  resolved: ResolvedConfig;
  natsUrl: string;
  clock: Clock;
  logger: Logger;
  out: string;
  maxRequests: number | undefined;
  maxSeconds: number | undefined;
}

export interface Recording {
  /** Resolves with what was heard, once the file is closed. @throws TokenrailError what writing failed with */
  done: Promise<RecorderCounts & { sizeBytes: number }>;
  /** Ends in good order. Idempotent. */
  stop(): void;
}

/**
 * Listens to a deployment and writes what it hears.
 * @throws TokenrailError `config_invalid` naming `--out`, `bus_unavailable`
 */
export async function startRecording(context: RecordingContext): Promise<Recording> {
  const { resolved, clock, logger, out, maxRequests, maxSeconds } = context;
  const { deployment, configHash, config } = resolved;
  const subjects = new Subjects(deployment.namespace);
  const id = newId('rec', Math.random, 8);
  const bus = await connectNats({
    servers: context.natsUrl,
    inboxPrefix: subjects.inbox('client', id, 'request'),
    name: `tokenrail record ${id}`,
    ...(config.natsToken === undefined ? {} : { token: config.natsToken }),
    logger,
    clock,
    connectTimeoutMs: config.advanced.connectTimeoutMs,
  });
  let writer: RecordingWriter | undefined;
  try {
    const file = (writer = new RecordingWriter(out, headerOf(resolved, clock.epochMs())));
    const recorder = new Recorder(
      { subject: subjects.allRecords(), configHash, ...(maxRequests === undefined ? {} : { maxRequests }) },
      { bus, clock, write: (messages) => file.write(messages) },
    );
    await recorder.start();
    const timer =
      maxSeconds === undefined ? undefined : clock.setTimer(maxSeconds * 1000, () => recorder.stop());
    const done = recorder.done.then(async (failure) => {
      timer?.cancel();
      await bus.close().finally(() => closeFile(file, recorder.counts, failure));
      if (failure !== undefined) throw failure;
      return { ...recorder.counts, sizeBytes: file.sizeBytes };
    });
    return { done, stop: () => recorder.stop() };
  } catch (thrown) {
    writer?.abandon();
    await bus.close();
    throw thrown;
  }
}

/** A file to which not everything could be written has no end. */
function closeFile(file: RecordingWriter, counts: RecorderCounts, failure: TokenrailError | undefined): void {
  const { requests, ended, steps, missed } = counts;
  if (failure === undefined) file.close({ requests, ended, steps, missed });
  else file.abandon();
}
