/** The CPU time of one job: that of its program's process group, which runs no other job. */
import { readdirSync } from 'node:fs'
import { attempt, readProc, statFields, tickMs } from '../processes/proc.ts'

/** A process group, and what earlier accounts learned of it. */
export interface CpuGroup {
  /** Includes processes that have ended but were not waited for. */
  members(): Iterable<number>
  threads: ThreadLifetimes
}

/** Number of jobs to sample often before a program's threads are assumed to outlive jobs. */
const observedJobs = 20

/** Whether threads of a program end with their jobs. Then they must be sampled often: their CPU time is lost at their end. */
export class ThreadLifetimes {
  #jobs = 0
  endWithJobs = false

  get needSampling(): boolean {
    return this.endWithJobs || this.#jobs < observedJobs
  }

  jobObserved(): void {
    this.#jobs++
  }
}

interface Times {
  /** CPU time of all threads, including ended ones, in steps of 10 ms. */
  ownMs: number
  /** CPU time of children that the process has waited for. */
  waitedMs: number
}

interface Thread {
  baseNs: number
  lastNs: number
  /** Started after the job started. */
  fresh: boolean
  /** CPU time per wall time between the last two samples. */
  nsPerMs: number
  alive: boolean
}

interface Process {
  base: Times
  /** Undefined: the process has ended. */
  now: Times | undefined
  /** All threads seen so far. */
  threads: Map<string, Thread>
}

const nsPerMs = 1e6

/**
 * The system reports CPU time in nanoseconds only for live threads, so the last sample of each thread is kept. For
 * threads and processes between samples it reports steps of 10 ms: too coarse for one job, but right on average.
 */
export class CpuAccount {
  readonly #group: CpuGroup
  readonly #processes = new Map<number, Process>()
  #sampledAt = performance.now()
  #samples = 0
  #unseenNs = 0
  #lastMs = 0

  constructor(group: CpuGroup) {
    this.#group = group
    this.#read(performance.now(), true)
  }

  get needsSampling(): boolean {
    return this.#group.threads.needSampling
  }

  /** CPU time since the account was opened, in milliseconds. Never decreases. */
  sample(): number {
    this.#read(performance.now(), false)
    return this.#sum()
  }

  /** Like `sample`, when the answer arrives. A thread that ended since the last sample is assumed to have run until now. */
  sampleAtAnswer(): number {
    const { threads: lifetimes } = this.#group
    const now = performance.now()
    const gapMs = now - this.#sampledAt
    const live = this.#fresh().filter(({ alive }) => alive)
    const seen = this.#fresh().length > 0
    this.#read(now, false)
    if (this.#samples > 1) lifetimes.jobObserved()
    const ended = live.filter(({ alive }) => !alive)
    if (ended.length > 0) lifetimes.endWithJobs = true
    for (const thread of ended) thread.lastNs += thread.nsPerMs * gapMs
    if (lifetimes.endWithJobs && !seen && this.#fresh().length === 0) this.#unseenNs = gapMs * nsPerMs
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
        const coarseMs = now.ownMs - base.ownMs
        // User and system time are each rounded down to ticks.
        doneMs += seenMs >= coarseMs - 2 * tickMs ? seenMs : coarseMs
        waitedMs += now.waitedMs - base.waitedMs
      } else {
        // The waited-for time of the parent contains all CPU time of the process, also from before the job.
        waitedMs -= base.ownMs + base.waitedMs
        vanishedMs += seenMs
      }
    }
    this.#lastMs = Math.max(this.#lastMs, doneMs + Math.max(waitedMs, vanishedMs))
    return this.#lastMs
  }

  #read(now: number, opening: boolean): void {
    const sinceMs = Math.max(now - this.#sampledAt, 0.001)
    this.#sampledAt = now
    this.#samples++
    for (const process of this.#processes.values()) {
      process.now = undefined
      for (const thread of process.threads.values()) thread.alive = false
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
        const thread = known ?? { baseNs, lastNs: baseNs, fresh: !opening, nsPerMs, alive: true }
        process.threads.set(tid, thread)
        // The start time of a thread seen for the first time is unknown, so its rate is too.
        if (known) known.nsPerMs = Math.min(nsPerMs, (ns - known.lastNs) / sinceMs)
        thread.lastNs = ns
        thread.alive = true
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
