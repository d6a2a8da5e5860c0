/** CPU time and memory of a process group and of all that its members start, from /proc. */
import { readdirSync } from 'node:fs'
import { attempt, readProc, residentMb, statFields, tickMs } from '../proc.ts'

/** To find children is half of the effort: they are taken to be the same for so long. */
const freshMs = 2

export class GroupUsage {
  readonly #leader: number
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

  /** Those that ended and were not waited for yet are among them. */
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

interface Times {
  /** Of its own threads, also of those that have ended; in steps of a tick. */
  ownMs: number
  /** Of children that it has waited for. */
  waitedMs: number
}

interface Seen {
  base: Times
  /** Undefined: it is gone. */
  now: Times | undefined
  /** Nanoseconds of each thread that was ever seen. */
  threads: Map<string, { base: number; last: number }>
}

/**
 * CPU time is known to the nanosecond only of threads that live, so what was last seen of a thread is kept. Of threads
 * and processes that nobody saw the system tells in steps of 10 ms: too coarse for one job, right on average.
 */
export class CpuAccount {
  readonly #group: GroupUsage
  readonly #seen = new Map<number, Seen>()
  #lastMs = 0

  constructor(group: GroupUsage) {
    this.#group = group
    this.#look(true)
  }

  /** CPU time since it was opened, in milliseconds; never less than it said before. */
  sample(): number {
    this.#look(false)
    let doneMs = 0
    let waitedMs = 0
    let vanishedMs = 0
    for (const { base, now, threads } of this.#seen.values()) {
      const seenMs = threads.values().reduce((sum, { base, last }) => sum + last - base, 0) / 1e6
      if (now) {
        const toldMs = now.ownMs - base.ownMs
        // User and system time are cut to ticks each.
        doneMs += seenMs >= toldMs - 2 * tickMs ? seenMs : toldMs
        waitedMs += now.waitedMs - base.waitedMs
      } else {
        // All of it is in the time that its parent waited for, also what was done before.
        waitedMs -= base.ownMs + base.waitedMs
        vanishedMs += seenMs
      }
    }
    this.#lastMs = Math.max(this.#lastMs, doneMs + Math.max(waitedMs, vanishedMs))
    return this.#lastMs
  }

  #look(opening: boolean): void {
    for (const seen of this.#seen.values()) seen.now = undefined
    for (const pid of this.#group.members()) {
      const now = timesOf(pid)
      if (!now) continue
      const seen = this.#seen.get(pid) ?? {
        base: opening ? now : { ownMs: 0, waitedMs: 0 },
        now,
        threads: new Map(),
      }
      seen.now = now
      this.#seen.set(pid, seen)
      for (const thread of threadsOf(pid)) {
        const ns = attempt(() => Number(readProc(pid, `task/${thread}/schedstat`).split(' ')[0]))
        if (ns === undefined) continue
        const known = seen.threads.get(thread)
        if (known) known.last = ns
        else seen.threads.set(thread, { base: opening ? ns : 0, last: ns })
      }
    }
  }
}

function threadsOf(pid: number): string[] {
  return attempt(() => readdirSync(`/proc/${pid}/task`)) ?? []
}

function childrenOf(pid: number): number[] {
  const lists = threadsOf(pid).map((thread) => attempt(() => readProc(pid, `task/${thread}/children`)) ?? '')
  return lists.flatMap((list) => list.trim().split(' ').map(Number)).filter((child) => child > 0)
}

function timesOf(pid: number): Times | undefined {
  const fields = statFields(pid)
  if (!fields) return undefined
  const sumMs = (first: number) => (Number(fields[first]) + Number(fields[first + 1])) * tickMs
  return { ownMs: sumMs(11), waitedMs: sumMs(13) }
}

/** In the middle of its end, or over and not waited for: from a moment before its sockets close. */
export function isEnding(pid: number): boolean {
  const fields = statFields(pid)
  const exiting = 4
  return !fields || fields[0] === 'Z' || fields[0] === 'X' || (Number(fields[6]) & exiting) !== 0
}
