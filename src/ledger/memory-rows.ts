/** The rows of a memory ledger: in order of recording, forgotten by the rules of growth.ts. */
import { type GrowthLimits, roomOf, Sieve } from './growth.ts'
import type { LedgerRow, RecentQuery, WarmRow } from './ledger.ts'
import { type Found, gather } from './query.ts'
import { aheadMs, isLearnable, readRow } from './row.ts'
import { readResult, toWarmRows } from './warm.ts'

export class MemoryRows {
  readonly #limits: GrowthLimits
  readonly #rows = new Map<string, LedgerRow>()
  /** Rows of each workload since it was last looked through. */
  readonly #added = new Map<string, number>()

  constructor(limits: GrowthLimits) {
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
    if (added >= this.#limits.slack) this.#tidy(row.workload, now)
  }

  dropFirst(): void {
    const [first] = this.#rows.keys()
    this.#rows.delete(first!)
  }

  clear(): void {
    this.#rows.clear()
    this.#added.clear()
  }

  recent({ workload, codeHash, limit }: RecentQuery, now: number): Found<LedgerRow> {
    const rows = this.#newest(workload)
    const wanted = codeHash === undefined ? rows : rows.filter((row) => row.codeHash === codeHash)
    return gather(wanted, limit, (row) => readRow(row, now))
  }

  warm({ workload, limit }: { workload: string; limit: number }, now: number): Found<WarmRow> {
    const versions = this.#versions(workload, now).slice(0, 1 + this.#limits.olderVersions)
    const found = gather(versions.flat(), limit, (row) => readResult(row, now))
    return { ...found, rows: toWarmRows(found.rows) }
  }

  #tidy(workload: string, now: number): void {
    this.#added.delete(workload)
    for (const [version, rows] of this.#versions(workload, now).entries()) {
      const sieve = new Sieve<string>(roomOf(version, this.#limits), this.#limits)
      for (const row of rows) {
        const { job, key, work } = row
        for (const gone of sieve.show({ id: job, key, work, learnable: isLearnable(row, now) })) {
          this.#rows.delete(gone)
        }
      }
    }
  }

  #newest(workload: string): LedgerRow[] {
    return [...this.#rows.values()]
      .filter((row) => row.workload === workload)
      .reverse()
      .sort((a, b) => b.endedAt - a.endedAt)
  }

  /** The newest version of the code first, and of each its newest row. */
  #versions(workload: string, now: number): LedgerRow[][] {
    const rows = this.#newest(workload)
    const hasCome = rows.filter((row) => row.endedAt <= now + aheadMs)
    const byCode = Map.groupBy(rows, (row) => row.codeHash)
    return [...new Set([...hasCome, ...rows].map((row) => row.codeHash))].map((code) => byCode.get(code)!)
  }
}
