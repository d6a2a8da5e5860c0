/** The output of a slot, as lines. A fatal report of the runtime is kept instead of being printed. */
import type { Readable } from 'node:stream'

const maxLineLength = 16 * 1024
const maxReportLength = 64 * 1024
const reportBegins = /^(<--- Last few GCs --->|FATAL ERROR: |#$|# Fatal |terminate called)/

export class SlotOutput {
  /** Lines that look like a fatal report. If the process continues, they are not one, and `flush` prints them. */
  #report: string[] = []
  readonly #print: (line: string) => void

  constructor(print: (line: string) => void) {
    this.#print = print
  }

  read(stream: Readable): void {
    let partial = ''
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => {
      const lines = (partial + text).split('\n')
      partial = lines.pop()!
      for (const line of lines) this.#line(line)
      if (partial.length > maxLineLength) {
        this.#line(partial)
        partial = ''
      }
    })
    stream.on('end', () => this.#line(partial))
    stream.on('error', () => {})
  }

  get report(): string {
    return this.#report.join('\n')
  }

  flush(): void {
    for (const line of this.#report.splice(0)) this.#print(line)
  }

  #line(raw: string): void {
    const line = raw.trimEnd()
    if (line === '') return
    if (this.#report.length === 0 && !reportBegins.test(line)) this.#print(line)
    else if (this.#report.length < maxReportLength / 64) this.#report.push(line.slice(0, maxLineLength))
  }
}
