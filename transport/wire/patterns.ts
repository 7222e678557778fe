import { MAX_NAME_CHARS, MAX_RID_CHARS } from './limits.ts';

const RID = new RegExp(`^[A-Za-z0-9_-]{1,${MAX_RID_CHARS}}$`);
const NAME = new RegExp(`^[\\x21-\\x7e]{1,${MAX_NAME_CHARS}}$`);
const FIELD = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** Request ids: letters, digits, `-` and `_`. */
export const isRid = (text: string): boolean => RID.test(text);

/** Names of replicas, gateways, instances and routers: visible ASCII without spaces, 1 to 128 characters. */
export const isWireName = (text: string): boolean => NAME.test(text);

/** {@link isWireName} for a value of any type. */
export const isName = (value: unknown): value is string => typeof value === 'string' && isWireName(value);

/** Names of algorithm fields and counters. The first letter keeps `__proto__` and its kin out. */
export const isFieldName = (text: string): boolean => FIELD.test(text);
