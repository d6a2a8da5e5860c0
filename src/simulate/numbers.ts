/** A list of numbers that grows, eight bytes each. */

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

  /** What it holds now, without a copy: good until the next push. */
  view(): Float64Array<ArrayBuffer> {
    return this.#values.subarray(0, this.#count)
  }
}
