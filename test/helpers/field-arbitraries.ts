import fc from 'fast-check';
import { END_REASONS, type EndReason } from '../../core/request.ts';
import type { RequestInit } from '../../transport/messages.ts';

/** fast-check arbitraries of what the fields of messages hold. */

/** Plain objects, as the decoder makes them: fast-check mixes in objects without a prototype otherwise. */
export const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record<T, keyof T>(model, { noNullPrototype: true });

const idChars = fc.constantFrom(...'ABCXYZabcxyz0189-_');
const nameChars = fc.constantFrom(...'ABCxyz019-_.:/@>*$!~');
export const ridArbitrary = fc.string({ unit: idChars, minLength: 1, maxLength: 64 });
export const wireNameArbitrary = fc.string({ unit: nameChars, minLength: 1, maxLength: 128 });
export const fieldName = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,20}$/);
export const text = fc.string({ unit: 'grapheme', maxLength: 60 });

export const model = fc.integer({ min: 1, max: 255 });
export const count = fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 0xffff_ffff }));
export const duration = fc.double({ min: 0, max: 1e9, noNaN: true }).map((value) => value + 0);
export const tokenId = fc.oneof(
  fc.integer({ min: 0, max: 151_935 }),
  fc.integer({ min: 0, max: 0x7fff_ffff }),
);

/** Both wire forms of token ids are met: lists below 16, packed bytes from there. */
export const tokensArbitrary = fc.oneof(
  fc.array(tokenId, { maxLength: 20 }),
  fc.array(tokenId, { minLength: 14, maxLength: 18 }),
  fc.array(tokenId, { maxLength: 400 }),
);

export const noUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;

/** An optional field: absent, or one of `values`. */
export const maybe = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { nil: undefined });

export const sampling: fc.Arbitrary<RequestInit['sampling']> = record({
  temperature: duration,
  topP: fc.double({ min: Number.MIN_VALUE, max: 1, noNaN: true }),
  topK: fc.oneof(fc.constant(-1), fc.integer({ min: 1, max: 200_000 })),
  minP: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0),
  seed: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(2 ** 63, -(2 ** 62), 0)),
});

export const endReason = fc.constantFrom<EndReason>(...END_REASONS);

const algoValue = fc.oneof(
  fc.double().map((value) => value + 0),
  fc.integer(),
  text,
  fc.boolean(),
  fc.array(
    fc.double().map((value) => value + 0),
    { maxLength: 8 },
  ),
);
export const algo = fc.dictionary(fieldName, algoValue, { maxKeys: 6, noNullPrototype: true });
