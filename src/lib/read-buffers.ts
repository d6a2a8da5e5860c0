/**
 * Buffers into which long bodies are read. They are used again and again: the garbage of new ones would cost more than the
 * copying.
 */

/** An answer that is held until it is complete fits into one. */
export const readBufferBytes = 256 * 1024
/** Free buffers that are kept: as many as bodies usually arrive at a time. */
const mostFree = 64

export class ReadBuffers {
  readonly #free: Buffer[] = []

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(readBufferBytes)
  }

  /** Nobody reads it any more. */
  give(buffer: Buffer): void {
    if (this.#free.length < mostFree) this.#free.push(buffer)
  }
}
