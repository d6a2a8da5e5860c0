/**
 * Memory and CPU time of processes, read from /proc. Undefined for an unknown process, or without /proc (macOS): then a
 * slot reports its CPU time and peak memory at the end of a job, and only the size of the JavaScript heap is limited.
 */

import { closeSync, openSync, readdirSync, readSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

const mb = 1024 * 1024
export const tickMs = 10

export function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

const buffer = Buffer.allocUnsafe(8192)

/** Reads a file of /proc with a single read, in half the time of readFileSync. */
export function readProc(pid: number | 'self', name: string): string {
  const fd = openSync(`/proc/${pid}/${name}`, 'r')
  try {
    return buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0))
  } finally {
    closeSync(fd)
  }
}

const pageBytes =
  attempt(() => Number(/KernelPageSize:\s+(\d+) kB/.exec(readProc('self', 'smaps'))![1]) * 1024) ?? 4096

function status(pid: number | 'self', field: string): number | undefined {
  return attempt(() => {
    const line = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readProc(pid, 'status'))
    return line ? Number(line[1]) / 1024 : undefined
  })
}

/** Resident memory, including memory shared with other processes. The cheapest of these functions. */
export function rssMb(pid: number): number | undefined {
  return residentMb(pid)?.allMb
}

/** Resident memory, and the part of it that other processes may share. */
export function residentMb(pid: number): { allMb: number; sharedMb: number } | undefined {
  return attempt(() => {
    const pages = readProc(pid, 'statm').split(' ')
    return { allMb: (Number(pages[1]) * pageBytes) / mb, sharedMb: (Number(pages[2]) * pageBytes) / mb }
  })
}

/** Maximum resident memory since the process started or since `resetPeak`. */
export function peakMb(pid: number): number | undefined {
  return status(pid, 'VmHWM')
}

/** Returns false if that is not permitted: then the peak includes earlier jobs. */
export function resetPeak(pid: number): boolean {
  const written = attempt(() => {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    return true
  })
  return written ?? false
}

/** Private writable memory of this process, used or not, which `ulimit -d` limits. */
export function ownDataMb(): number | undefined {
  return status('self', 'VmData')
}

/** CPU time of all threads since the process started. */
export function cpuMs(pid: number): number | undefined {
  const threads = attempt(() => readdirSync(`/proc/${pid}/task`))
  if (!threads) return undefined
  let ns = 0
  for (const thread of threads) {
    // A thread may end between the two reads.
    ns += attempt(() => Number(readProc(pid, `task/${thread}/schedstat`).split(' ')[0])) ?? 0
  }
  // The value from /proc/PID/stat is coarse, but includes ended threads, and is available without schedstat.
  return Math.max(ns / 1e6, ticksMs(pid) ?? 0)
}

/**
 * Time that the main thread, which runs the jobs of a slot, was ready to run and waited for a core. A machine of its own
 * would have given it a core at once. 0 without schedstat.
 */
export function queuedMs(pid: number | 'self'): number | undefined {
  return attempt(() => (Number(readProc(pid, 'schedstat').split(' ')[1]) || 0) / 1e6)
}

/**
 * Time that all threads spent on a core or in the queue for one. Unlike CPU time, it also grows while other processes
 * take the cores.
 */
export function demandMs(pid: number): number | undefined {
  let ns = 0
  for (const thread of attempt(() => readdirSync(`/proc/${pid}/task`)) ?? []) {
    const [onCore, queued] = attempt(() => readProc(pid, `task/${thread}/schedstat`).split(' ')) ?? []
    ns += Number(onCore ?? 0) + Number(queued ?? 0)
  }
  // Without schedstat all numbers are 0.
  return ns > 0 ? ns / 1e6 : undefined
}

function ticksMs(pid: number): number | undefined {
  const fields = statFields(pid)
  return fields && (Number(fields[11]) + Number(fields[12])) * tickMs
}

/**
 * The fields of /proc/PID/stat after the name: state, parent, process group; flags at 6; user and system time at 11 and
 * 12; user and system time of waited-for children at 13 and 14.
 */
export function statFields(pid: number): string[] | undefined {
  return attempt(() => fieldsOfStat(readProc(pid, 'stat')))
}

/** The name in parentheses, which may contain spaces, is left out with what precedes it. */
export function fieldsOfStat(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/**
 * Gives fronts, brain and supervisors priority over a process that runs jobs: they need little CPU time, and everything
 * waits for them. With autogrouping, the kernel uses the niceness of the session, and limits how often it may be changed.
 */
export function lowerPriority(pid: number, niceness: number, tries = 5): void {
  if (niceness === 0) return
  attempt(() => setPriority(pid, niceness))
  try {
    writeFileSync(`/proc/${pid}/autogroup`, `${niceness}`)
  } catch (error) {
    const again = (error as NodeJS.ErrnoException).code === 'EAGAIN' && tries > 0
    if (again) setTimeout(() => lowerPriority(pid, niceness, tries - 1), 150).unref()
  }
}
