/** What a program prints, line by line, and no more of it than a log can bear. */
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

const mostLineLength = 2_000
/** In one second; what is more is counted and left out. */
const mostLines = 200
const spanMs = 1_000

export class ProgramOutput {
  readonly #print: (line: string) => void
  #printed = 0
  #leftOut = 0
  #span: NodeJS.Timeout | undefined
  lastLine = ''

  constructor(print: (line: string) => void) {
    this.#print = print
  }

  read(stream: Readable): void {
    const decoder = new StringDecoder('utf8')
    let partial = ''
    const take = (text: string) => {
      const lines = (partial + text).split(/\r?\n|\r/)
      partial = lines.pop()!
      for (const line of lines) this.#line(line)
      // A line without end is told in parts.
      if (partial.length > mostLineLength) this.#line(partial)
      if (partial.length > mostLineLength) partial = ''
    }
    stream.on('data', (bytes: Buffer) => take(decoder.write(bytes)))
    stream.on('end', () => {
      take(decoder.end())
      this.#line(partial)
    })
    stream.on('error', () => {})
  }

  /** No more will come. */
  close(): void {
    clearTimeout(this.#span)
    this.#tellLeftOut()
  }

  #line(raw: string): void {
    const whole = raw.trimEnd()
    if (whole === '') return
    const line = whole.length > mostLineLength ? `${whole.slice(0, mostLineLength)}…` : whole
    this.lastLine = line
    this.#span ??= setTimeout(() => this.#nextSpan(), spanMs).unref()
    if (this.#printed++ < mostLines) this.#print(line)
    else this.#leftOut++
  }

  #nextSpan(): void {
    this.#span = undefined
    this.#printed = 0
    this.#tellLeftOut()
  }

  #tellLeftOut(): void {
    if (this.#leftOut > 0)
      this.#print(`(${this.#leftOut} more lines left out: more than ${mostLines} a second)`)
    this.#leftOut = 0
  }
}
