/** EcoWork's table of one workload: by key the smallest and largest x seen, the work of each, and the slope between. */

import { isUsable } from '../../estimate/guess.ts'
import { Recent } from '../../estimate/recent.ts'

/** A stored row; `metric` is the slope. */
export interface SlopeRow {
  key: string
  minX: number
  minWork: number
  maxX: number
  maxWork: number
  metric: number
}

interface Seen {
  key: string
  x: number
  work: number
}

/** The most pending measurements; beyond that the oldest are dropped. */
const mostNoted = 10_000

export class SlopeTable {
  readonly #rows: Recent<SlopeRow>
  #noted: Seen[] = []

  constructor(keys: number) {
    this.#rows = new Recent(keys)
  }

  /** Adds a pending measurement. */
  note(key: string, x: number, work: number): void {
    if (!isUsable(work) || !(x >= 0 && Number.isFinite(x))) return
    this.#noted.push({ key, x, work })
    if (this.#noted.length > mostNoted) this.#noted.shift()
  }

  /** Applies pending measurements. True: an x outside the known range changed the table. */
  settle(): boolean {
    const noted = this.#noted
    this.#noted = []
    let changed = false
    for (const seen of noted) if (this.#widen(seen)) changed = true
    return changed
  }

  get(key: string): SlopeRow | undefined {
    return this.#rows.get(key)
  }

  rows(): SlopeRow[] {
    return [...this.#rows.values()]
  }

  /** Loads stored rows; invalid ones are skipped. */
  load(rows: unknown): void {
    for (const row of soundRows(rows)) this.#set(row)
  }

  /** Widens the rows by stored ones, which another process may have written. */
  merge(rows: unknown): void {
    for (const { key, minX, minWork, maxX, maxWork } of soundRows(rows)) {
      this.#widen({ key, x: minX, work: minWork })
      this.#widen({ key, x: maxX, work: maxWork })
    }
  }

  #widen({ key, x, work }: Seen): boolean {
    const row = this.#rows.get(key)
    if (row && x >= row.minX && x <= row.maxX) return false
    const least = !row || x < row.minX ? { minX: x, minWork: work } : row
    const most = !row || x > row.maxX ? { maxX: x, maxWork: work } : row
    const { minX, minWork } = least
    const { maxX, maxWork } = most
    this.#set({ key, minX, minWork, maxX, maxWork })
    return true
  }

  #set(ends: Omit<SlopeRow, 'metric'>): void {
    this.#rows.set(ends.key, { ...ends, metric: slopeOf(ends) })
  }
}

function soundRows(rows: unknown): Omit<SlopeRow, 'metric'>[] {
  if (!Array.isArray(rows)) return []
  return (rows as Partial<SlopeRow>[]).flatMap((row) => {
    const { key, minX = -1, minWork = 0, maxX = -1, maxWork = 0 } = row ?? {}
    const sound = minX >= 0 && maxX >= minX && maxX < Infinity && isUsable(minWork) && isUsable(maxWork)
    return typeof key === 'string' && sound ? [{ key, minX, minWork, maxX, maxWork }] : []
  })
}

/** With one point, or if the larger x took no more work: a line through the origin. */
function slopeOf({ minX, minWork, maxX, maxWork }: Omit<SlopeRow, 'metric'>): number {
  const slope = (maxWork - minWork) / (maxX - minX)
  if (isUsable(slope)) return slope
  return maxX > 0 ? maxWork / maxX : 0
}
