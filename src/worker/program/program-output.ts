/** The output of a program, line by line, limited in length and rate. */
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'

const maxLineLength = 2_000
/** Per second; further lines are counted and dropped. */
const maxLines = 200
const spanMs = 1_000

export class ProgramOutput {
  readonly #print: (line: string) => void
  readonly #now: () => number
  #printed = 0
  #dropped = 0
  #spanTimer: NodeJS.Timeout | undefined
  #lastLine = ''
  #lastLineAt = 0

  constructor(print: (line: string) => void, now: () => number) {
    this.#print = print
    this.#now = now
  }

  /** For messages, so without colours. */
  get lastLine(): { lastLine: string; lastLineAgeMs: number } {
    return { lastLine: this.#lastLine, lastLineAgeMs: this.#now() - this.#lastLineAt }
  }

  read(stream: Readable): void {
    const decoder = new StringDecoder('utf8')
    let partial = ''
    const take = (text: string) => {
      const lines = (partial + text).split(/\r?\n|\r/)
      partial = lines.pop()!
      for (const line of lines) this.#line(line)
      // An endless line is printed in parts.
      if (partial.length > maxLineLength) this.#line(partial)
      if (partial.length > maxLineLength) partial = ''
    }
    stream.on('data', (bytes: Buffer) => take(decoder.write(bytes)))
    stream.on('end', () => {
      take(decoder.end())
      this.#line(partial)
    })
    stream.on('error', () => {})
  }

  /** The output has ended. */
  close(): void {
    clearTimeout(this.#spanTimer)
    this.#reportDropped()
  }

  #line(raw: string): void {
    const whole = raw.trimEnd()
    if (whole === '') return
    const line = whole.length > maxLineLength ? `${whole.slice(0, maxLineLength)}…` : whole
    this.#lastLine = stripVTControlCharacters(line)
    this.#lastLineAt = this.#now()
    this.#spanTimer ??= setTimeout(() => this.#nextSpan(), spanMs).unref()
    if (this.#printed++ < maxLines) this.#print(line)
    else this.#dropped++
  }

  #nextSpan(): void {
    this.#spanTimer = undefined
    this.#printed = 0
    this.#reportDropped()
  }

  #reportDropped(): void {
    if (this.#dropped > 0)
      this.#print(`(${this.#dropped} more lines dropped: more than ${maxLines} per second)`)
    this.#dropped = 0
  }
}
