/** The rows of a memory ledger, in order of recording, pruned by the rules of retention.ts. */

import { type Collected, collect } from '../collect.ts'
import type { LedgerRow, RecentQuery, WarmRow } from '../ledger.ts'
import { capacityOf, type RetentionLimits, RowFilter } from '../retention.ts'
import { isLearnable, maxClockAheadMs, readRow } from '../row.ts'
import { readResult, toWarmRows } from '../warm.ts'

export class MemoryRows {
  readonly #limits: RetentionLimits
  readonly #rows = new Map<string, LedgerRow>()
  /** Rows added since the last pruning, by workload. */
  readonly #added = new Map<string, number>()

  constructor(limits: RetentionLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#rows.size
  }

  add(row: LedgerRow, now: number): void {
    this.#rows.delete(row.job)
    this.#rows.set(row.job, row)
    const added = (this.#added.get(row.workload) ?? 0) + 1
    this.#added.set(row.workload, added)
    if (added >= this.#limits.slack) this.#prune(row.workload, now)
  }

  dropFirst(): void {
    const [first] = this.#rows.keys()
    this.#rows.delete(first!)
  }

  clear(): void {
    this.#rows.clear()
    this.#added.clear()
  }

  recent({ workload, codeHash, key, limit }: RecentQuery, now: number): Collected<LedgerRow> {
    const wanted = this.#newest(workload).filter(
      (row) =>
        (codeHash === undefined || row.codeHash === codeHash) && (key === undefined || row.key === key),
    )
    return collect(wanted, limit, (row) => readRow(row, now))
  }

  warm({ workload, limit }: { workload: string; limit: number }, now: number): Collected<WarmRow> {
    const versions = this.#versions(workload, now).slice(0, 1 + this.#limits.olderVersions)
    const found = collect(versions.flat(), limit, (row) => readResult(row, now))
    return { ...found, rows: toWarmRows(found.rows) }
  }

  #prune(workload: string, now: number): void {
    this.#added.delete(workload)
    for (const [version, rows] of this.#versions(workload, now).entries()) {
      const filter = new RowFilter<string>(capacityOf(version, this.#limits), this.#limits)
      for (const row of rows) {
        const { job, key, work } = row
        const surplus = filter.offer({ id: job, key, work, learnable: isLearnable(row, now) })
        for (const each of surplus) this.#rows.delete(each)
      }
    }
  }

  #newest(workload: string): LedgerRow[] {
    return [...this.#rows.values()]
      .filter((row) => row.workload === workload)
      .reverse()
      .sort((a, b) => b.endedAt - a.endedAt)
  }

  /** Rows grouped by version of the code, the newest version and its newest row first. */
  #versions(workload: string, now: number): LedgerRow[][] {
    const rows = this.#newest(workload)
    const past = rows.filter((row) => row.endedAt <= now + maxClockAheadMs)
    const byCode = Map.groupBy(rows, (row) => row.codeHash)
    return [...new Set([...past, ...rows].map((row) => row.codeHash))].map((code) => byCode.get(code)!)
  }
}
