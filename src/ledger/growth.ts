/** Decides which rows a ledger forgets: it keeps what estimators can still learn from, and stays small. */

export interface GrowthLimits {
  /** Rows of the newest version of a workload's code, and of each version before it. */
  newest: number
  older: number
  /** Versions before the newest. */
  olderVersions: number
  /** Rows of the same key: equal requests cost the same, so a few say all. */
  perKey: number
  /** Of the rows that are not among the newest, this many of least work and as many of most work are kept. */
  extremes: number
  /** Rows that nobody learns from, such as those of failed jobs, for each version of the code. */
  others: number
  /** Rows of metrics, of all workloads. */
  metrics: number
  /** A workload is looked through when this many of its rows were recorded. */
  slack: number
}

export const growthLimits: Readonly<GrowthLimits> = {
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
 * How many rows estimators can learn from are left of a version, 0 being the newest. Of that one some room is left,
 * so that with those recorded until the next look it has at most `newest`.
 */
export function roomOf(version: number, { newest, older, olderVersions, slack }: GrowthLimits): number {
  if (version === 0) return Math.max(1, newest - slack)
  return version <= olderVersions ? older : 0
}

export interface RowFacts<Id> {
  id: Id
  /** '': not known, so equal to no other. */
  key: string
  work: number
  /** Whether estimators can learn from it. */
  learnable: boolean
}

interface Held<Id> extends RowFacts<Id> {
  /** Kept for its work only: it goes when no list of extremes holds it. */
  lists: number
  isNew: boolean
}

/** Is shown the rows of one version of a workload's code, newest first, and says which to forget. */
export class Sieve<Id> {
  readonly #limits: GrowthLimits
  readonly #extremes: number
  readonly #keys = new Map<string, number>()
  /** The most extreme last. */
  readonly #least: Held<Id>[] = []
  readonly #most: Held<Id>[] = []
  #room: number
  #others: number

  constructor(room: number, limits: GrowthLimits) {
    this.#limits = limits
    this.#extremes = Math.min(limits.extremes, Math.floor(room / 4))
    this.#room = room - 2 * this.#extremes
    this.#others = room > 0 ? limits.others : 0
  }

  /** Rows to forget now: this one, or one that was kept so far. */
  show(facts: RowFacts<Id>): Id[] {
    if (!facts.learnable) return this.#others-- > 0 ? [] : [facts.id]
    const equals = facts.key === '' ? 0 : (this.#keys.get(facts.key) ?? 0)
    if (equals >= this.#limits.perKey) return [facts.id]
    const row: Held<Id> = { ...facts, lists: 0, isNew: this.#room-- > 0 }
    if (row.key !== '') this.#keys.set(row.key, equals + 1)
    const passedOver = [row, ...this.#enter(this.#least, row, 1), ...this.#enter(this.#most, row, -1)]
    return passedOver.filter(({ isNew, lists }) => !isNew && lists === 0).map((each) => this.#forget(each))
  }

  /** Of equal works the newer row stays. Returns the one that left the list for it, if any. */
  #enter(list: Held<Id>[], row: Held<Id>, sign: number): Held<Id>[] {
    let place = list.length
    while (place > 0 && sign * list[place - 1]!.work <= sign * row.work) place--
    if (place === 0 && list.length >= this.#extremes) return []
    list.splice(place, 0, row)
    row.lists++
    if (list.length <= this.#extremes) return []
    const [leaving] = list.splice(0, 1)
    leaving!.lists--
    return [leaving!]
  }

  #forget({ id, key }: Held<Id>): Id {
    const equals = this.#keys.get(key)
    if (equals !== undefined) this.#keys.set(key, equals - 1)
    return id
  }
}
