/**
 * Limits of the wire protocol. They bound what one message may cost its receiver; docs/protocol.md lists them.
 * Raising one is a compatible change for the receiver only: senders follow after every receiver has.
 */

/** Largest frame that is looked at, in bytes: the largest `max_payload` NATS recommends. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;

export const MAX_MESSAGES_PER_FRAME = 4096;

/** Models are numbered 1..255: an origin is one byte. */
export const MAX_MODEL_ID = 255;

export const MAX_TOKEN_ID = 0x7fff_ffff;

/** Token ids in one message (8 MiB hold 2 Mi of them). */
export const MAX_TOKENS_PER_MESSAGE = 2 * 1024 * 1024;

/** From this many on, token ids travel as packed little-endian int32 instead of a list of integers. */
export const PACK_TOKENS_FROM = 16;

/** Terms, hops, lengths and positions. */
export const MAX_COUNT = 0xffff_ffff;

export const MAX_RID_CHARS = 64;
export const MAX_NAME_CHARS = 128;

/** Messages for people; senders cut them, so that a long one does not cost the whole message. */
export const MAX_TEXT_CHARS = 2048;

export const MAX_STOP_IDS = 1024;
export const MAX_ALGO_FIELDS = 64;
export const MAX_ALGO_TEXT_CHARS = 1024;
export const MAX_ALGO_NUMBERS = 65_536;
export const MAX_COUNTERS = 1024;

/** Points of a curve of step times. */
export const MAX_CURVE_POINTS = 64;

/** Steps of a plan, one per number of requests alive. */
export const MAX_PLAN_STEPS = 512;

/** Entries of a table of thresholds. */
export const MAX_THRESHOLDS = 4096;

/** Numbers of one vector of a record: as wide as any hidden vector. */
export const MAX_RECORDED_VALUES = 65_536;

/** Heads whose scores one record brings. */
export const MAX_RECORDED_SCORES = 64;

/** Arrays and maps inside each other; the deepest field of version 1 sits at 5. */
export const MAX_NESTING = 16;
