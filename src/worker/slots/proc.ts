/**
 * What the system knows of a process, read from /proc. Undefined where there is no /proc (macOS) or no such
 * process: then CPU time and peak memory are what a slot reports of itself at the end of a job, and of the
 * bounds on memory only that of the JavaScript heap holds.
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

/** A file of /proc in one read: half the time of readFileSync, which asks for its size and reads to its end. */
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

/** Memory resident now, what is shared with other processes included. The cheapest of these to ask. */
export function rssMb(pid: number): number | undefined {
  return residentMb(pid)?.allMb
}

/** And how much of it other processes may share. */
export function residentMb(pid: number): { allMb: number; sharedMb: number } | undefined {
  return attempt(() => {
    const pages = readProc(pid, 'statm').split(' ')
    return { allMb: (Number(pages[1]) * pageBytes) / mb, sharedMb: (Number(pages[2]) * pageBytes) / mb }
  })
}

/** The most that was resident since the process began or `resetPeak`. */
export function peakMb(pid: number): number | undefined {
  return status(pid, 'VmHWM')
}

/** False: not permitted, so the peak stays that of earlier jobs too. */
export function resetPeak(pid: number): boolean {
  const written = attempt(() => {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    return true
  })
  return written ?? false
}

/** Private memory this process may write to, touched or not: what `ulimit -d` bounds. */
export function ownDataMb(): number | undefined {
  return status('self', 'VmData')
}

/** CPU time of all threads since the process began. */
export function cpuMs(pid: number): number | undefined {
  const threads = attempt(() => readdirSync(`/proc/${pid}/task`))
  if (!threads) return undefined
  let ns = 0
  for (const thread of threads) {
    // A thread may end between the two reads.
    ns += attempt(() => Number(readProc(pid, `task/${thread}/schedstat`).split(' ')[0])) ?? 0
  }
  // Coarse, but it counts threads that have ended, and it is there where schedstat is not.
  return Math.max(ns / 1e6, ticksMs(pid) ?? 0)
}

function ticksMs(pid: number): number | undefined {
  const fields = statFields(pid)
  return fields && (Number(fields[11]) + Number(fields[12])) * tickMs
}

/**
 * What /proc/PID/stat says after the name: its state first, then its parent and its group; its flags at 6; user and
 * system time at 11 and 12, those of its children that it has waited for at 13 and 14.
 */
export function statFields(pid: number): string[] | undefined {
  return attempt(() => {
    const stat = readProc(pid, 'stat')
    // The name in parentheses may hold spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  })
}

/** As `nice` has it: half of the usual share where there is not enough for all. More would let others starve jobs. */
export const behind = 3

/**
 * Lets whoever hands out work go before what does it: they need little, and all wait for them. A kernel that shares
 * time between sessions first goes by the session's own figure, which it lets be changed only so often.
 */
export function giveWay(pid: number, tries = 5): void {
  attempt(() => setPriority(pid, behind))
  try {
    writeFileSync(`/proc/${pid}/autogroup`, `${behind}`)
  } catch (error) {
    const again = (error as NodeJS.ErrnoException).code === 'EAGAIN' && tries > 0
    if (again) setTimeout(() => giveWay(pid, tries - 1), 150).unref()
  }
}
