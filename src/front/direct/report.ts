/** Collects what happens on the direct path, for the brain: counts of all requests, and the facts of a sample. */

import type { DirectCount, DirectReport, DirectRow } from '../../wire/direct.ts'

/** Time that facts are collected before they are sent. */
const reportMs = 100
/** Rows of each workload or route in one report. Estimates need some of them, not all. */
const mostRows = 2

export interface ReportLink {
  /** False: the brain is unreachable, and reports are put off: they would pile up. */
  isUp(): boolean
  send(report: DirectReport): void
}

export class DirectReports {
  readonly #link: ReportLink
  readonly #counts = new Map<string, DirectCount>()
  readonly #sampled = new Map<string, number>()
  #rows: DirectRow[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(link: ReportLink) {
    this.#link = link
  }

  answered(name: string, worker: string, work: number, ms: number): void {
    const count = this.#count(name, worker)
    count.answered++
    count.work += work
    count.totalMs += ms
    if (ms > count.longestMs) count.longestMs = ms
  }

  givenBack(name: string, worker: string): void {
    this.#count(name, worker).givenBack++
  }

  /** A request has taken this time, and is still in progress. */
  lasts(name: string, worker: string, ms: number): void {
    const count = this.#count(name, worker)
    if (ms > count.longestMs) count.longestMs = ms
  }

  /** True: a row of this request is wanted. */
  samples(name: string): boolean {
    return (this.#sampled.get(name) ?? 0) < mostRows
  }

  row(row: DirectRow): void {
    this.#sampled.set(row.name, (this.#sampled.get(row.name) ?? 0) + 1)
    this.#rows.push(row)
  }

  /** Sends what there is, if the brain can be reached. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#counts.size === 0) return
    if (!this.#link.isUp()) return this.#plan()
    const counts = [...this.#counts.values()]
    const rows = this.#rows
    this.#counts.clear()
    this.#sampled.clear()
    this.#rows = []
    this.#link.send({ counts, rows })
  }

  /** Nothing more is sent. */
  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #plan(): void {
    this.#timer ??= setTimeout(() => this.flush(), reportMs)
  }

  #count(name: string, worker: string): DirectCount {
    const key = `${worker}/${name}`
    let count = this.#counts.get(key)
    if (!count) {
      count = { name, worker, answered: 0, givenBack: 0, work: 0, totalMs: 0, longestMs: 0 }
      this.#counts.set(key, count)
      this.#plan()
    }
    return count
  }
}
