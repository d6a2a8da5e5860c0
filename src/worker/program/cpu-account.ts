/** The CPU time of one job: that of the process group of the program that has nothing else to do. */
import { readdirSync } from 'node:fs'
import { attempt, readProc, statFields, tickMs } from '../slots/proc.ts'

/** What an account must know of a group, and what is learned of it for the next. */
export interface CpuGroup {
  /** Those that ended and were not waited for yet are among them. */
  members(): Iterable<number>
  threads: ThreadHabits
}

/** Jobs that are looked at closely before threads are taken to last. */
const enoughJobs = 20

/** Do threads of a program end with their jobs? Then they must be looked at often, for what they used is lost. */
export class ThreadHabits {
  #jobs = 0
  endWithJobs = false

  get mustBeWatched(): boolean {
    return this.endWithJobs || this.#jobs < enoughJobs
  }

  jobWasWatched(): void {
    this.#jobs++
  }
}

interface Times {
  /** Of its own threads, also of those that have ended; in steps of a tick. */
  ownMs: number
  /** Of children that it has waited for. */
  waitedMs: number
}

interface Thread {
  baseNs: number
  lastNs: number
  /** It was not there when the job began. */
  fresh: boolean
  /** What it used of the time between the last two looks. */
  nsPerMs: number
  lives: boolean
}

interface Process {
  base: Times
  /** Undefined: it is gone. */
  now: Times | undefined
  /** All that were ever seen. */
  threads: Map<string, Thread>
}

const nsPerMs = 1e6

/**
 * CPU time is known to the nanosecond only of threads that live, so what was last seen of a thread is kept. Of threads
 * and processes that nobody saw the system tells in steps of 10 ms: too coarse for one job, right on average.
 */
export class CpuAccount {
  readonly #group: CpuGroup
  readonly #processes = new Map<number, Process>()
  #lookedAt = performance.now()
  #looks = 0
  #unseenNs = 0
  #lastMs = 0

  constructor(group: CpuGroup) {
    this.#group = group
    this.#look(performance.now(), true)
  }

  get mustBeWatched(): boolean {
    return this.#group.threads.mustBeWatched
  }

  /** CPU time since it was opened, in milliseconds; never less than it said before. */
  sample(): number {
    this.#look(performance.now(), false)
    return this.#sum()
  }

  /** The same at the moment that the answer comes, to which a thread that is gone by now is taken to have run on. */
  sampleAtAnswer(): number {
    const { threads: habits } = this.#group
    const now = performance.now()
    const gapMs = now - this.#lookedAt
    const lived = this.#fresh().filter(({ lives }) => lives)
    const seen = this.#fresh().length > 0
    this.#look(now, false)
    if (this.#looks > 1) habits.jobWasWatched()
    const ended = lived.filter(({ lives }) => !lives)
    if (ended.length > 0) habits.endWithJobs = true
    for (const thread of ended) thread.lastNs += thread.nsPerMs * gapMs
    if (habits.endWithJobs && !seen && this.#fresh().length === 0) this.#unseenNs = gapMs * nsPerMs
    return this.#sum()
  }

  #fresh(): Thread[] {
    return [...this.#processes.values()].flatMap(({ threads }) =>
      [...threads.values()].filter((it) => it.fresh),
    )
  }

  #sum(): number {
    let doneMs = this.#unseenNs / nsPerMs
    let waitedMs = 0
    let vanishedMs = 0
    for (const { base, now, threads } of this.#processes.values()) {
      const seenMs = threads.values().reduce((sum, { baseNs, lastNs }) => sum + lastNs - baseNs, 0) / nsPerMs
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

  #look(now: number, opening: boolean): void {
    const sinceMs = Math.max(now - this.#lookedAt, 0.001)
    this.#lookedAt = now
    this.#looks++
    for (const process of this.#processes.values()) {
      process.now = undefined
      for (const thread of process.threads.values()) thread.lives = false
    }
    for (const pid of this.#group.members()) {
      const times = timesOf(pid)
      if (!times) continue
      const base = opening ? times : { ownMs: 0, waitedMs: 0 }
      const process = this.#processes.get(pid) ?? { base, now: times, threads: new Map() }
      process.now = times
      this.#processes.set(pid, process)
      for (const tid of threadsOf(pid)) {
        const ns = attempt(() => Number(readProc(pid, `task/${tid}/schedstat`).split(' ')[0]))
        if (ns === undefined) continue
        const baseNs = opening ? ns : 0
        const known = process.threads.get(tid)
        const thread = known ?? { baseNs, lastNs: baseNs, fresh: !opening, nsPerMs, lives: true }
        process.threads.set(tid, thread)
        // One that is seen for the first time may have begun at any moment.
        if (known) known.nsPerMs = Math.min(nsPerMs, (ns - known.lastNs) / sinceMs)
        thread.lastNs = ns
        thread.lives = true
      }
    }
  }
}

export function threadsOf(pid: number): string[] {
  return attempt(() => readdirSync(`/proc/${pid}/task`)) ?? []
}

function timesOf(pid: number): Times | undefined {
  const fields = statFields(pid)
  if (!fields) return undefined
  const sumMs = (first: number) => (Number(fields[first]) + Number(fields[first + 1])) * tickMs
  return { ownMs: sumMs(11), waitedMs: sumMs(13) }
}
