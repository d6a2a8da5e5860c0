/**
 * Coverage feedback from V8: an input that reaches code that no input reached before joins the pool of inputs to mutate.
 * Reading the counters costs milliseconds, so they are read once per batch, and for parts of a batch only after one that
 * reached something new.
 */

import { type Profiler, Session } from 'node:inspector'

/** Parsers and the checks of targets, but neither the fuzzer nor packages. */
const watched = /\/(?:src|workloads|fuzz\/targets)\//
const packages = /\/node_modules\//

type Interval = readonly [from: number, to: number]

export class Guide {
  readonly #session = new Session()
  /** Code that no input has reached yet, by function. Undefined: the whole function. */
  readonly #unreached = new Map<string, readonly Interval[]>()
  /** Characters of code that were reached. */
  reachedCharacters = 0

  constructor() {
    this.#session.connect()
    this.#post('Profiler.enable')
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** True: new code was reached since the last call of either method. It is new once. */
  reached(): boolean {
    let isNew = false
    for (const { key, whole, left } of this.#read()) {
      const before = this.#unreached.get(key) ?? [whole]
      const after = common(before, left)
      const gained = lengthOf(before) - lengthOf(after)
      this.#unreached.set(key, after)
      this.reachedCharacters += gained
      isNew ||= gained > 0
    }
    return isNew
  }

  /** The same, but it stays new. */
  peek(): boolean {
    for (const { key, whole, left } of this.#read()) {
      const before = this.#unreached.get(key) ?? [whole]
      if (lengthOf(common(before, left)) < lengthOf(before)) return true
    }
    return false
  }

  close(): void {
    this.#session.disconnect()
  }

  /** The functions that ran since the last reading, with the parts that did not. Reading resets the counters. */
  #read(): { key: string; whole: Interval; left: Interval[] }[] {
    const { result } = this.#post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType
    return result
      .filter(({ url }) => watched.test(url) && !packages.test(url))
      .flatMap(({ url, functions }) =>
        functions
          .filter(({ ranges }) => ranges[0]!.count > 0)
          .map(({ ranges: [whole, ...parts] }) => ({
            key: `${url} ${whole!.startOffset} ${whole!.endOffset}`,
            whole: [whole!.startOffset, whole!.endOffset] as const,
            left: parts
              .filter(({ count }) => count === 0)
              .map(({ startOffset, endOffset }) => [startOffset, endOffset] as const),
          })),
      )
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

/** What is in both lists. */
function common(some: readonly Interval[], others: readonly Interval[]): Interval[] {
  return some.flatMap(([from, to]) =>
    others
      .map(([otherFrom, otherTo]) => [Math.max(from, otherFrom), Math.min(to, otherTo)] as const)
      .filter(([start, end]) => start < end),
  )
}

function lengthOf(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, [from, to]) => sum + to - from, 0)
}
