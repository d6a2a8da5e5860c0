/** CPU times of the processes and threads of a group, read from /proc at one moment. */
import { threadsOf } from '../processes/family.ts'
import { fieldsOfStat, tickMs } from '../processes/proc.ts'
import { ProcFiles } from '../processes/proc-files.ts'

export interface Times {
  /** CPU time of all threads, including ended ones, in steps of 10 ms. */
  ownMs: number
  /** CPU time of children that the process has waited for. */
  waitedMs: number
}

export interface ProcessReading extends Times {
  /** CPU time in nanoseconds, by thread. */
  threads: Map<string, number>
}

export interface CpuReading {
  at: number
  processes: Map<number, ProcessReading>
}

/** Reads the CPU times of a group. */
export class CpuReader {
  readonly #files = new ProcFiles()
  /** Threads by process, as listed last. */
  readonly #threads = new Map<number, string[]>()

  /** Leaves out processes that have ended and were waited for. */
  read(pids: Iterable<number>): CpuReading {
    const at = performance.now()
    const processes = new Map<number, ProcessReading>()
    for (const pid of pids) {
      const stat = this.#files.read(`${pid}/stat`)
      if (!stat) this.#drop(pid)
      else processes.set(pid, this.#process(pid, fieldsOfStat(stat.toString('latin1'))))
    }
    return { at, processes }
  }

  close(): void {
    this.#files.close()
  }

  #process(pid: number, stat: readonly string[]): ProcessReading {
    const sumMs = (first: number) => (Number(stat[first]) + Number(stat[first + 1])) * tickMs
    const times = { ownMs: sumMs(11), waitedMs: sumMs(13) }
    const known = this.#threads.get(pid)
    // Listing the threads is expensive, and only needed if some have started or ended.
    const same = known?.length === Number(stat[17]) ? this.#times(pid, known) : undefined
    if (same && same.size === known!.length) return { ...times, threads: same }
    const listed = threadsOf(pid)
    for (const tid of known ?? []) if (!listed.includes(tid)) this.#files.drop(schedstat(pid, tid))
    this.#threads.set(pid, listed)
    return { ...times, threads: this.#times(pid, listed) }
  }

  #times(pid: number, tids: readonly string[]): Map<string, number> {
    const times = new Map<string, number>()
    for (const tid of tids) {
      const text = this.#files.read(schedstat(pid, tid))
      if (text) times.set(tid, Number.parseInt(text.toString('latin1', 0, 20), 10))
    }
    return times
  }

  #drop(pid: number): void {
    for (const tid of this.#threads.get(pid) ?? []) this.#files.drop(schedstat(pid, tid))
    this.#threads.delete(pid)
  }
}

function schedstat(pid: number, tid: string): string {
  return `${pid}/task/${tid}/schedstat`
}

/** A reading takes a good part of the time of a short job. So jobs that follow each other closely start from the same one. */
const reuseMs = 5

/** The last reading of a group, from which the next job may start. */
export class LastReading {
  #reading: CpuReading | undefined
  #chargedMs = 0

  store(reading: CpuReading): void {
    this.#reading = reading
    this.#chargedMs = 0
  }

  /** A job that was too short for a reading of its own was charged with this CPU time. */
  charge(ms: number): void {
    this.#chargedMs += ms
  }

  /** Undefined if it is too old. `chargedMs`: CPU time since then that belongs to earlier jobs. */
  recent(): { reading: CpuReading; chargedMs: number } | undefined {
    const reading = this.#reading
    if (!reading || performance.now() - reading.at > reuseMs) return undefined
    return { reading, chargedMs: this.#chargedMs }
  }
}
