/** Writes JPEG's stream of bits, in which each byte of ones is followed by a zero byte. */

export class BitWriter {
  bytes = new Uint8Array(65_536)
  length = 0
  #held = 0
  #count = 0

  /** Makes sure that so many bytes can follow. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more))
    larger.set(this.bytes.subarray(0, this.length))
    this.bytes = larger
  }

  /** The lower `count` bits, at most 16, for which space must be reserved. */
  put(bits: number, count: number): void {
    this.#held = (this.#held << count) | bits
    this.#count += count
    while (this.#count >= 8) {
      this.#count -= 8
      const byte = (this.#held >> this.#count) & 255
      this.bytes[this.length++] = byte
      if (byte === 255) this.bytes[this.length++] = 0
    }
    this.#held &= (1 << this.#count) - 1
  }

  /** Fills the last byte with ones, and appends bytes as they are. */
  end(bytes: readonly number[]): Uint8Array {
    this.reserve(2 + bytes.length)
    if (this.#count > 0) this.put((1 << (8 - this.#count)) - 1, 8 - this.#count)
    this.bytes.set(bytes, this.length)
    return this.bytes.subarray(0, this.length + bytes.length)
  }

  /** Whole bytes, between which no bits are held. */
  append(bytes: readonly number[] | Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }
}
