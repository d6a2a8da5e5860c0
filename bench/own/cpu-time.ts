/** CPU time of a process and its descendants, from /proc. */

import { threadsOf } from '../../src/worker/processes/family.ts'
import { attempt, cpuMs, readProc } from '../../src/worker/processes/proc.ts'

/** Leaves out subtrees whose command line contains `except`. */
export function treeCpuMs(pid: number, except: string): number {
  const command = attempt(() => readProc(pid, 'cmdline')) ?? ''
  if (command.includes(except)) return 0
  const children = threadsOf(pid).flatMap(
    (thread) => attempt(() => readProc(pid, `task/${thread}/children`).trim().split(' ').map(Number)) ?? [],
  )
  const ofChildren = children.filter((child) => child > 0).map((child) => treeCpuMs(child, except))
  return ofChildren.reduce((sum, each) => sum + each, cpuMs(pid) ?? 0)
}
