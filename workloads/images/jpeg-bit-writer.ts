/** Writes a JPEG bit stream, in which each byte 0xff is followed by a zero byte. */

export class BitWriter {
  bytes = new Uint8Array(65_536)
  length = 0
  #held = 0
  #count = 0

  /** Ensures room for `more` bytes. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more))
    larger.set(this.bytes.subarray(0, this.length))
    this.bytes = larger
  }

  /** Writes the lower `count` bits, at most 16. Space must have been reserved. */
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

  /** Pads the last byte with ones and appends `bytes` unchanged. */
  end(bytes: readonly number[]): Uint8Array {
    this.reserve(2 + bytes.length)
    if (this.#count > 0) this.put((1 << (8 - this.#count)) - 1, 8 - this.#count)
    this.bytes.set(bytes, this.length)
    return this.bytes.subarray(0, this.length + bytes.length)
  }

  /** Appends whole bytes; no bits may be pending. */
  append(bytes: readonly number[] | Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }
}
