/** The kernel sends SIGHUP also when the terminal of a process is closed. */

import { closeSync, openSync } from 'node:fs'

const startedInTerminal = process.stdin.isTTY || process.stdout.isTTY

/** True: the process never had a terminal, or still has it. */
export function hasTerminal(): boolean {
  if (!startedInTerminal) return true
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
