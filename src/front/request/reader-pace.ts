/**
 * Lets a body arrive no faster than it is read, for a while: what is read as it arrives need not be read from its file. A body that
 * nobody reads, or that is read slowly, does not wait.
 */

/** How far the reader may be behind. */
const lagBytes = 256 * 1024
/** How long a body waits for its reader in all. */
const patienceMs = 500

export class ReaderPace {
  #at: number | undefined
  #waitedMs = 0
  #advanced = Promise.withResolvers<void>()

  /** The body has been read up to here. */
  reads(at: number): void {
    this.#at = at
    this.#advanced.resolve()
  }

  /** Resolves when the reader is not far behind this position, or has been waited for long enough. */
  async wait(bytes: number): Promise<void> {
    while (this.#at !== undefined && bytes - this.#at > lagBytes && this.#waitedMs < patienceMs) {
      this.#advanced = Promise.withResolvers()
      const since = performance.now()
      const timer = setTimeout(this.#advanced.resolve, patienceMs - this.#waitedMs)
      await this.#advanced.promise
      clearTimeout(timer)
      this.#waitedMs += performance.now() - since
    }
  }
}
