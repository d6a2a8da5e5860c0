/** What a slot prints, as lines; a fatal report of the runtime is kept apart, not printed. */
import type { Readable } from 'node:stream'

const mostLineLength = 16 * 1024
const mostReportLength = 64 * 1024
const reportBegins = /^(<--- Last few GCs --->|FATAL ERROR: |#$|# Fatal |terminate called)/

export class Output {
  /** What looks like a report. If the process lives on it was none, and `flush` prints it. */
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
      if (partial.length > mostLineLength) {
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
    else if (this.#report.length < mostReportLength / 64) this.#report.push(line.slice(0, mostLineLength))
  }
}
