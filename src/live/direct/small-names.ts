/**
 * Decides which workloads or routes are small: recent requests to them all took little time, so that it makes no
 * difference in which order they run, and asking the brain would cost more than it could save.
 */

/** Small requests in a row after which a name is small. Doubles each time that it turns out not to be. */
const [firstNeeded, mostNeeded] = [64, 8_192]
/** A request that takes this many times as long shows that a name is not small. */
const outlier = 10
/** Requests sent directly whose average time and share given back are judged together. */
const judged = 64
/** Share of requests given back that is too much, and the least number of them. */
const [mostGivenBack, leastGivenBack] = [0.1, 10]

interface Known {
  inRow: number
  needed: number
  isSmall: boolean
  /** Since it became small, or since the last judgement. */
  direct: { answered: number; givenBack: number; totalMs: number }
  /** Answered directly since `needed` has changed. */
  proven: number
}

/** Requests to one name that were sent directly. */
export interface SentDirectly {
  answered: number
  givenBack: number
  /** Time of all that were answered, and of the longest. */
  totalMs: number
  longestMs: number
}

export class SmallNames {
  readonly #belowMs: number
  readonly #known = new Map<string, Known>()

  /** 0: none is small. */
  constructor(belowMs: number) {
    this.#belowMs = belowMs
  }

  list(): string[] {
    return [...this.#known].filter(([, { isSmall }]) => isSmall).map(([name]) => name)
  }

  /** A request on the general path took this time. True: the list has changed. */
  took(name: string, ms: number): boolean {
    const known = this.#of(name)
    if (known.isSmall) return ms > outlier * this.#belowMs && this.#demote(known)
    known.inRow = ms <= this.#belowMs ? known.inRow + 1 : 0
    known.isSmall = known.inRow >= known.needed
    return known.isSmall
  }

  /** True: the list has changed. */
  sentDirectly(name: string, { answered, givenBack, totalMs, longestMs }: SentDirectly): boolean {
    const known = this.#of(name)
    if (!known.isSmall) return false
    const { direct } = known
    direct.answered += answered
    direct.givenBack += givenBack
    direct.totalMs += totalMs
    const all = direct.answered + direct.givenBack
    const isRefused = direct.givenBack >= leastGivenBack && direct.givenBack > mostGivenBack * all
    if (isRefused || longestMs > outlier * this.#belowMs) return this.#demote(known)
    if (all < judged) return false
    if (direct.totalMs > this.#belowMs * direct.answered) return this.#demote(known)
    known.direct = { answered: 0, givenBack: 0, totalMs: 0 }
    known.proven += direct.answered
    if (known.proven >= known.needed) {
      known.proven = 0
      known.needed = Math.max(firstNeeded, known.needed / 2)
    }
    return false
  }

  /** Its code has changed: nothing is known of it. */
  forget(): void {
    this.#known.clear()
  }

  #demote(known: Known): true {
    Object.assign(known, unknown(), { needed: Math.min(mostNeeded, 2 * known.needed) })
    return true
  }

  #of(name: string): Known {
    let known = this.#known.get(name)
    if (!known) {
      known = unknown()
      this.#known.set(name, known)
    }
    return known
  }
}

function unknown(): Known {
  const direct = { answered: 0, givenBack: 0, totalMs: 0 }
  return { inRow: 0, needed: firstNeeded, isSmall: false, direct, proven: 0 }
}
