/**
 * Coverage feedback from V8: an input that reaches code that no input reached before joins the pool of inputs to mutate.
 * Reading the counters costs milliseconds, so they are read once per batch, and input by input only after a batch that
 * reached something new.
 */

import { type Profiler, Session } from 'node:inspector'

/** Parsers and the checks of targets, but neither the fuzzer nor packages. */
const watched = /\/(?:src|workloads|fuzz\/targets)\//
const packages = /\/node_modules\//

export class Guide {
  readonly #session = new Session()
  readonly #seen = new Set<string>()

  constructor() {
    this.#session.connect()
    this.#post('Profiler.enable')
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** The number of ranges of code that were reached for the first time since the last call. */
  reached(): number {
    const { result } = this.#post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType
    const before = this.#seen.size
    for (const range of rangesOf(result)) this.#seen.add(range)
    return this.#seen.size - before
  }

  /** Forgets what was reached since the last call; true: some of it was new. */
  peek(): boolean {
    const { result } = this.#post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType
    for (const range of rangesOf(result)) if (!this.#seen.has(range)) return true
    return false
  }

  get ranges(): number {
    return this.#seen.size
  }

  close(): void {
    this.#session.disconnect()
  }

  /** A session of the same thread calls back before `post` returns. */
  #post(method: string, parameters: object = {}): unknown {
    let returned: unknown
    this.#session.post(method, parameters, (error: Error | null, result?: object) => {
      if (error) throw error
      returned = result
    })
    return returned
  }
}

function* rangesOf(scripts: readonly Profiler.ScriptCoverage[]): Generator<string> {
  for (const { url, functions } of scripts) {
    if (!watched.test(url) || packages.test(url)) continue
    for (const { ranges } of functions) {
      for (const { startOffset, endOffset, count } of ranges)
        if (count > 0) yield `${url} ${startOffset} ${endOffset}`
    }
  }
}
