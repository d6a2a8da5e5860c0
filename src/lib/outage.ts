/** Reports once that something fails, and once that it works again, with the number of things that were lost. */

export interface OutageWords {
  /** For example "the event log cannot be written: ENOSPC". */
  failed(why: string): string
  /** For example "the event log is written again; 12 entries were lost". */
  works(lost: number): string
}

export class Outage {
  readonly #words: OutageWords
  readonly #log: (line: string) => void
  #why: string | undefined
  #lost = 0

  constructor(words: OutageWords, log: (line: string) => void) {
    this.#words = words
    this.#log = log
  }

  /** Why it fails now; undefined: it works. */
  get why(): string | undefined {
    return this.#why
  }

  /** Counts `lost` things. Logs only the first failure, and failures for another reason than the last one. */
  failed(why: string, lost = 0): void {
    this.#lost += lost
    if (why === this.#why) return
    this.#why = why
    this.#log(this.#words.failed(why))
  }

  /** Does nothing unless it failed before. */
  works(): void {
    if (this.#why === undefined) return
    this.#why = undefined
    const lost = this.#lost
    this.#lost = 0
    this.#log(this.#words.works(lost))
  }
}
