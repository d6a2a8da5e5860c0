/** The CPU time of one job: that of its program's process group, which runs no other job. */
import { tickMs } from '../processes/proc.ts'
import type { CpuReader, CpuReading, LastReading, Times } from './cpu-reading.ts'

/** A process group, and what earlier accounts learned of it. */
export interface CpuGroup {
  /** Includes processes that have ended but were not waited for. */
  members(): Iterable<number>
  threads: ThreadLifetimes
  reader: CpuReader
  lastReading: LastReading
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
  /** CPU time of earlier jobs that the account would include. */
  readonly #othersMs: number
  #lastMs = 0

  constructor(group: CpuGroup) {
    this.#group = group
    const { reading, chargedMs } = group.lastReading.recent() ?? { reading: this.#next(), chargedMs: 0 }
    this.#othersMs = chargedMs
    this.#add(reading, true)
    this.#sampledAt = performance.now()
  }

  get needsSampling(): boolean {
    return this.#group.threads.needSampling
  }

  /** CPU time since the account was opened, in milliseconds. Never decreases. */
  sample(): number {
    this.#add(this.#next(), false)
    return this.#sum()
  }

  /** Like `sample`, when the answer arrives. A thread that ended since the last sample is assumed to have run until now. */
  sampleAtAnswer(): number {
    const { threads: lifetimes } = this.#group
    const now = performance.now()
    const gapMs = now - this.#sampledAt
    const live = this.#fresh().filter(({ alive }) => alive)
    const seen = this.#fresh().length > 0
    this.#add(this.#next(), false)
    if (this.#samples > 1) lifetimes.jobObserved()
    const ended = live.filter(({ alive }) => !alive)
    if (ended.length > 0) lifetimes.endWithJobs = true
    for (const thread of ended) thread.lastNs += thread.nsPerMs * gapMs
    if (lifetimes.endWithJobs && !seen && this.#fresh().length === 0) this.#unseenNs = gapMs * nsPerMs
    return this.#sum()
  }

  /** Charges the job with this CPU time without a sample. */
  charge(ms: number): void {
    this.#group.lastReading.charge(ms)
  }

  #next(): CpuReading {
    const reading = this.#group.reader.read(this.#group.members())
    this.#group.lastReading.store(reading)
    return reading
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
    this.#lastMs = Math.max(this.#lastMs, doneMs + Math.max(waitedMs, vanishedMs) - this.#othersMs)
    return this.#lastMs
  }

  #add({ at, processes }: CpuReading, opening: boolean): void {
    const sinceMs = Math.max(at - this.#sampledAt, 0.001)
    this.#sampledAt = at
    this.#samples++
    for (const process of this.#processes.values()) {
      process.now = undefined
      for (const thread of process.threads.values()) thread.alive = false
    }
    for (const [pid, { threads, ...times }] of processes) {
      const base = opening ? times : { ownMs: 0, waitedMs: 0 }
      const process = this.#processes.get(pid) ?? { base, now: times, threads: new Map() }
      process.now = times
      this.#processes.set(pid, process)
      for (const [tid, ns] of threads) {
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
