/** Writes the event log in chunks of many lines. */

import type { Action } from '../../model/action.ts'
import type { Event } from '../../model/event.ts'
import { encodeEntry, encodeHeader } from './log.ts'

/** A chunk is passed on when it has this many characters. */
const chunkLength = 65_536

export class LogWriter {
  readonly #sink: (chunk: Uint8Array) => void
  readonly #encoder = new TextEncoder()
  #text = ''

  constructor(sink: (chunk: Uint8Array) => void) {
    this.#sink = sink
  }

  /** `brain` is plain data that describes the brain. */
  header(brain: object): void {
    this.#add(encodeHeader(brain))
  }

  entry(at: number, event: Event, actions: readonly Action[]): void {
    this.#add(encodeEntry(at, event, actions))
  }

  /** Passes on the lines that have not been passed on yet. */
  flush(): void {
    if (this.#text === '') return
    const chunk = this.#encoder.encode(this.#text)
    this.#text = ''
    this.#sink(chunk)
  }

  #add(line: string): void {
    this.#text += line
    if (this.#text.length >= chunkLength) this.flush()
  }
}
