/** Retention: a ledger keeps the rows that estimators can still learn from, and deletes the others. */

export interface RetentionLimits {
  /** Rows kept of the newest version of a workload's code, and of each older version. */
  newest: number
  older: number
  /** Number of older versions kept. */
  olderVersions: number
  /** Rows per key: equal requests cost the same, so a few suffice. */
  perKey: number
  /** Beyond the newest rows, this many with the least work and this many with the most work are kept. */
  extremes: number
  /** Rows that estimators cannot learn from, such as those of failed jobs, per version of the code. */
  others: number
  /** Rows of metrics, over all workloads. */
  metrics: number
  /** A workload is pruned each time this many of its rows were recorded. */
  slack: number
}

export const retentionLimits: Readonly<RetentionLimits> = {
  newest: 4_000,
  older: 1_000,
  olderVersions: 3,
  perKey: 4,
  extremes: 32,
  others: 500,
  metrics: 100_000,
  slack: 500,
}

/**
 * How many learnable rows of a version are kept; version 0 is the newest. The newest version is pruned to `slack` rows
 * below its limit, so that it stays within `newest` until the next pruning.
 */
export function capacityOf(
  version: number,
  { newest, older, olderVersions, slack }: RetentionLimits,
): number {
  if (version === 0) return Math.max(1, newest - slack)
  return version <= olderVersions ? older : 0
}

export interface RowFacts<Id> {
  id: Id
  /** '' if unknown: then the row counts as different from all others. */
  key: string
  work: number
  /** Whether estimators can learn from the row. */
  learnable: boolean
}

interface Candidate<Id> extends RowFacts<Id> {
  /** How many lists of extremes hold the row. A row that is not new is deleted when no list holds it. */
  lists: number
  isNew: boolean
}

/** Receives the rows of one version of a workload's code, newest first, and returns the rows to delete. */
export class RowFilter<Id> {
  readonly #limits: RetentionLimits
  readonly #extremes: number
  readonly #keys = new Map<string, number>()
  /** The most extreme row is last. */
  readonly #least: Candidate<Id>[] = []
  readonly #most: Candidate<Id>[] = []
  /** How many more new rows and unlearnable rows fit. */
  #capacity: number
  #others: number

  constructor(capacity: number, limits: RetentionLimits) {
    this.#limits = limits
    this.#extremes = Math.min(limits.extremes, Math.floor(capacity / 4))
    this.#capacity = capacity - 2 * this.#extremes
    this.#others = capacity > 0 ? limits.others : 0
  }

  /** Returns rows to delete: this row, or rows kept until now. */
  offer(facts: RowFacts<Id>): Id[] {
    if (!facts.learnable) return this.#others-- > 0 ? [] : [facts.id]
    const equals = facts.key === '' ? 0 : (this.#keys.get(facts.key) ?? 0)
    if (equals >= this.#limits.perKey) return [facts.id]
    const row: Candidate<Id> = { ...facts, lists: 0, isNew: this.#capacity-- > 0 }
    if (row.key !== '') this.#keys.set(row.key, equals + 1)
    const candidates = [row, ...this.#insert(this.#least, row, 1), ...this.#insert(this.#most, row, -1)]
    return candidates.filter(({ isNew, lists }) => !isNew && lists === 0).map((each) => this.#delete(each))
  }

  /** Among rows of equal work the newer one stays. Returns the row that the new one displaced, if any. */
  #insert(list: Candidate<Id>[], row: Candidate<Id>, sign: number): Candidate<Id>[] {
    let index = list.length
    while (index > 0 && sign * list[index - 1]!.work <= sign * row.work) index--
    if (index === 0 && list.length >= this.#extremes) return []
    list.splice(index, 0, row)
    row.lists++
    if (list.length <= this.#extremes) return []
    const [leaving] = list.splice(0, 1)
    leaving!.lists--
    return [leaving!]
  }

  #delete({ id, key }: Candidate<Id>): Id {
    const equals = this.#keys.get(key)
    if (equals !== undefined) this.#keys.set(key, equals - 1)
    return id
  }
}
