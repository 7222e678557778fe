import { z } from 'zod';
import { field } from '../fields.ts';

const milliseconds = (defaultMs: number, help: string): z.ZodDefault<z.ZodInt> =>
  field(z.int().min(1).max(3_600_000).default(defaultMs), { section: 'advanced', placeholder: 'MS', help });

/** Timers and bounds that rarely need a change. */
export const advancedSchema = z.strictObject({
  heartbeatMs: milliseconds(500, 'A subserver announces itself this often.'),
  heartbeatStaleMs: milliseconds(2000, 'A replica without a heartbeat for this long counts as gone.'),
  stepHungMs: milliseconds(10_000, 'An engine step that lasts longer makes the replica count as hung.'),
  resendMs: milliseconds(
    1000,
    'A handoff without any sign of life from its receiver is sent again after this time.',
  ),
  admitTimeoutMs: milliseconds(2000, 'The gateway repeats an admission without an answer after this time.'),
  idleProbeMs: milliseconds(2000, 'The gateway asks the home after this long without tokens.'),
  keepAliveMs: milliseconds(15_000, 'Comment lines keep a silent stream open this often.'),
  connectTimeoutMs: milliseconds(5000, 'Time to reach the broker at start.'),
  restartDelayMs: milliseconds(
    1000,
    'First delay before a subserver that ended is started again; it doubles each time.',
  ),
  maxBodyBytes: field(z.int().min(1024).max(1_073_741_824).default(1_048_576), {
    section: 'advanced',
    placeholder: 'BYTES',
    help: 'Largest HTTP body.',
  }),
  maxLiveRequests: field(z.int().min(1).max(1_048_576).default(1024), {
    section: 'advanced',
    placeholder: 'N',
    help: 'Requests that one subserver knows at a time, waiting and parked ones included.',
  }),
});
