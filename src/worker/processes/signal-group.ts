import type { ChildProcess } from 'node:child_process'

/** Signals the process group that a child leads, or only the child if the group cannot be signalled. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    child.kill(signal)
  }
}
