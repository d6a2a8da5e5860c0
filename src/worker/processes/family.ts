/** Processes and the processes that they started. */

import { readdirSync } from 'node:fs'
import { attempt, readProc } from './proc.ts'

export function threadsOf(pid: number): string[] {
  return attempt(() => readdirSync(`/proc/${pid}/task`)) ?? []
}

/** The processes and their descendants. Processes whose parents have ended are missing. */
export function familyOf(pids: Iterable<number>): Set<number> {
  const family = new Set(pids)
  // Iteration over a set includes elements added on the way.
  for (const pid of family) for (const child of childrenOf(pid)) family.add(child)
  return family
}

/** Whether a thread of the process, or of one that it started, runs or could run. */
export function isRunnable(pid: number): boolean {
  return (
    hasRunnableThread(pid) || [...familyOf([pid])].some((each) => each !== pid && hasRunnableThread(each))
  )
}

/** Whether a signal has stopped the process. */
export function isStopped(pid: number): boolean {
  const stat = attempt(() => readProc(pid, 'stat')) ?? ''
  return stat[stat.lastIndexOf(')') + 2] === 'T'
}

export function hasRunnableThread(pid: number): boolean {
  return threadsOf(pid).some((thread) => {
    const stat = attempt(() => readProc(pid, `task/${thread}/stat`)) ?? ''
    return stat[stat.lastIndexOf(')') + 2] === 'R'
  })
}

function childrenOf(pid: number): number[] {
  const lists = threadsOf(pid).map((thread) => attempt(() => readProc(pid, `task/${thread}/children`)) ?? '')
  return lists.flatMap((list) => list.trim().split(' ').map(Number)).filter((child) => child > 0)
}
