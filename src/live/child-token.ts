/** How processes that a cluster starts receive their token: neither their arguments nor their environment show it. */

import type { ChildProcess } from 'node:child_process'

/** Writes the token to the standard input of a process, which must be a pipe, and closes it. */
export function giveToken({ stdin }: ChildProcess, token: string): void {
  // The process may have ended already.
  stdin?.on('error', () => {})
  stdin?.end(`${token}\n`)
}
