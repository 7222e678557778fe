import { MAX_COUNT, MAX_MODEL_ID } from './limits.ts';
import { isRid, isWireName } from './patterns.ts';

/**
 * Reads the elements of one decoded tuple in order and checks each of them. A check that fails is remembered
 * in {@link failed} and a harmless value of the right type is returned, so that readers need no branches and
 * hostile input costs no exceptions; whoever reads looks at `failed` before the result is used.
 *
 * Elements beyond those asked for are never looked at: a newer sender may append fields.
 */
export class TupleReader {
  /** Name of the first field that did not pass, with a dot for nesting: `init.sampling.topP`. */
  failed: string | undefined = undefined;
  private readonly tuple: readonly unknown[];
  private next: number;

  constructor(tuple: readonly unknown[], firstIndex = 0) {
    this.tuple = tuple;
    this.next = firstIndex;
  }

  /** The next element as it is: absent and nil are both undefined. */
  raw(): unknown {
    const value = this.tuple[this.next];
    this.next += 1;
    return value ?? undefined;
  }

  fail(field: string): void {
    this.failed ??= field;
  }

  /** Reads one required element through `check`. */
  required<T>(field: string, check: (value: unknown) => value is T, otherwise: T): T {
    const value = this.raw();
    if (check(value)) return value;
    this.fail(field);
    return otherwise;
  }

  /** Reads one element that may be absent or nil. */
  optional<T>(field: string, check: (value: unknown) => value is T): T | undefined {
    const value = this.raw();
    if (value === undefined || check(value)) return value;
    this.fail(field);
    return undefined;
  }

  /** An integer in [min, max]. */
  int(field: string, min = 0, max = MAX_COUNT): number {
    const value = this.raw();
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    this.fail(field);
    return min;
  }

  model(field: string): number {
    return this.int(field, 1, MAX_MODEL_ID);
  }

  /** A finite number in [min, max]. */
  number(field: string, min: number, max = Number.MAX_VALUE): number {
    const value = this.raw();
    if (typeof value === 'number' && value >= min && value <= max) return value;
    this.fail(field);
    return min;
  }

  boolean(field: string): boolean {
    return this.required(field, (value) => typeof value === 'boolean', false);
  }

  rid(field = 'rid'): string {
    return this.required(field, (value): value is string => typeof value === 'string' && isRid(value), '');
  }

  name(field: string): string {
    return this.required(
      field,
      (value): value is string => typeof value === 'string' && isWireName(value),
      '',
    );
  }

  text(field: string, maxChars: number): string {
    return this.required(
      field,
      (value): value is string => typeof value === 'string' && value.length <= maxChars,
      '',
    );
  }

  /** A nested tuple, read by `read`; undefined where absent or nil. Failures inside carry `field` as prefix. */
  tupleOf<T>(field: string, read: (inner: TupleReader) => T): T | undefined {
    const value = this.raw();
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) {
      this.fail(field);
      return undefined;
    }
    const inner = new TupleReader(value);
    const result = read(inner);
    if (inner.failed !== undefined) this.fail(`${field}.${inner.failed}`);
    return result;
  }

  /** A nested list of tuples with at most `maxItems` of them; undefined where absent or nil. */
  listOf<T>(field: string, maxItems: number, read: (inner: TupleReader) => T): T[] | undefined {
    const value = this.raw();
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || value.length > maxItems) {
      this.fail(field);
      return undefined;
    }
    const items: T[] = [];
    for (const element of value as unknown[]) {
      const inner = new TupleReader(Array.isArray(element) ? element : []);
      items.push(read(inner));
      if (!Array.isArray(element)) this.fail(field);
      else if (inner.failed !== undefined) this.fail(`${field}.${inner.failed}`);
      if (this.failed !== undefined) return undefined;
    }
    return items;
  }
}
