/** A growing list of numbers, eight bytes each. */

export class Numbers {
  #values = new Float64Array(1024)
  #count = 0

  get length(): number {
    return this.#count
  }

  push(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#values.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#count++] = value
  }

  at(index: number): number {
    return this.#values[index]!
  }

  set(index: number, value: number): void {
    this.#values[index] = value
  }

  /** The current values, without a copy: valid until the next push. */
  view(): Float64Array<ArrayBuffer> {
    return this.#values.subarray(0, this.#count)
  }
}
