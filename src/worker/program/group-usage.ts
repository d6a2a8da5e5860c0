/** A process group and all that its members start: who they are, their memory and their CPU time, from /proc. */
import { readdirSync } from 'node:fs'
import { attempt, readProc, residentMb, statFields } from '../slots/proc.ts'
import { CpuAccount, type CpuGroup, ThreadHabits, threadsOf } from './cpu-account.ts'

/** To find children is half of the effort: they are taken to be the same for so long. */
const freshMs = 2

export class GroupUsage implements CpuGroup {
  readonly #leader: number
  readonly threads = new ThreadHabits()
  /** Members that may have lost their parents, so that no way leads to them from the leader. */
  #strays: number[] = []
  #known = new Set<number>()
  #knownAt = -Infinity

  constructor(leader: number) {
    this.#leader = leader
  }

  /** Looks at every process of the system: dear, so for once, when a program has started all that it needs. */
  findStrays(): void {
    const pids = (attempt(() => readdirSync('/proc')) ?? []).map(Number)
    this.#strays = pids.filter((pid) => pid > 0 && Number(statFields(pid)?.[2]) === this.#leader)
  }

  members(): ReadonlySet<number> {
    const now = performance.now()
    if (now - this.#knownAt < freshMs) return this.#known
    this.#knownAt = now
    this.#known = new Set([this.#leader, ...this.#strays])
    // A set that grows while it is walked is walked to its new end.
    for (const pid of this.#known) for (const child of childrenOf(pid)) this.#known.add(child)
    return this.#known
  }

  /** What members share counts once, as far as the system tells. */
  memoryMb(): number | undefined {
    let ownMb = 0
    let mostSharedMb = 0
    for (const pid of this.members()) {
      const { allMb, sharedMb } = residentMb(pid) ?? { allMb: 0, sharedMb: 0 }
      ownMb += allMb - sharedMb
      mostSharedMb = Math.max(mostSharedMb, sharedMb)
    }
    return ownMb + mostSharedMb || undefined
  }

  /** Counts CPU time from now on. Undefined where there is no /proc. */
  account(): CpuAccount | undefined {
    return statFields(this.#leader) && new CpuAccount(this)
  }
}

function childrenOf(pid: number): number[] {
  const lists = threadsOf(pid).map((thread) => attempt(() => readProc(pid, `task/${thread}/children`)) ?? '')
  return lists.flatMap((list) => list.trim().split(' ').map(Number)).filter((child) => child > 0)
}

/** In the middle of its end, or over and not waited for: from a moment before its sockets close. */
export function isEnding(pid: number): boolean {
  const fields = statFields(pid)
  const exiting = 4
  return !fields || fields[0] === 'Z' || fields[0] === 'X' || (Number(fields[6]) & exiting) !== 0
}
