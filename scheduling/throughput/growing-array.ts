/** An Int32Array that grows at its end. */
export class GrowingInts {
  values = new Int32Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Int32Array(2 * this.length);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length] = value;
    this.length += 1;
  }

  toArray(): Int32Array {
    return this.values.slice(0, this.length);
  }
}

/** A Float64Array that grows at its end. */
export class GrowingDoubles {
  values = new Float64Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Float64Array(2 * this.length);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length] = value;
    this.length += 1;
  }

  toArray(): Float64Array {
    return this.values.slice(0, this.length);
  }
}
