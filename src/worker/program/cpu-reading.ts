/** CPU times of the processes and threads of a group, read from /proc at one moment. */
import { readdirSync } from 'node:fs'
import { attempt, readProc, statFields, tickMs } from '../processes/proc.ts'

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

/** Leaves out processes that have ended and were waited for. */
export function readCpu(pids: Iterable<number>): CpuReading {
  const at = performance.now()
  const processes = new Map<number, ProcessReading>()
  for (const pid of pids) {
    const times = timesOf(pid)
    if (times) processes.set(pid, { ...times, threads: threadTimes(pid) })
  }
  return { at, processes }
}

export function threadsOf(pid: number): string[] {
  return attempt(() => readdirSync(`/proc/${pid}/task`)) ?? []
}

function threadTimes(pid: number): Map<string, number> {
  const times = new Map<string, number>()
  for (const tid of threadsOf(pid)) {
    const ns = attempt(() => Number(readProc(pid, `task/${tid}/schedstat`).split(' ')[0]))
    if (ns !== undefined) times.set(tid, ns)
  }
  return times
}

function timesOf(pid: number): Times | undefined {
  const fields = statFields(pid)
  if (!fields) return undefined
  const sumMs = (first: number) => (Number(fields[first]) + Number(fields[first + 1])) * tickMs
  return { ownMs: sumMs(11), waitedMs: sumMs(13) }
}

/** A reading takes 0.2 ms, as long as a short job. So jobs that follow each other closely start from the same one. */
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
