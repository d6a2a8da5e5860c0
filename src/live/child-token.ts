/** How processes that a cluster starts receive their token: neither their arguments nor their environment show it. */

import type { ChildProcess } from 'node:child_process'

/**
 * Writes the token to the standard input of a process, which must be a pipe. The pipe stays open for as long as this process
 * lives, so its end tells the process that it has lost its parent.
 */
export function giveToken({ stdin }: ChildProcess, token: string): void {
  // The process may have ended already.
  stdin?.on('error', () => {})
  stdin?.write(`${token}\n`)
}
