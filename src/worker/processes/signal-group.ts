import type { ChildProcess } from 'node:child_process'
import { familyOf } from './family.ts'

/** Signals the process group that a child leads, or only the child if the group cannot be signalled. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    child.kill(signal)
  }
}

/** Kills the process group that a child leads, and descendants of the child that have left the group. */
export function killFamily(child: ChildProcess): void {
  if (child.pid === undefined) return
  // They must be found first: the parents of killed processes are unknown.
  const family = familyOf([child.pid])
  family.delete(child.pid)
  signalGroup(child, 'SIGKILL')
  for (const pid of family) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It was in the group, and has ended.
    }
  }
}
