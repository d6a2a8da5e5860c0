/**
 * Ensures that no slot or program outlives its worker, however the worker ends.
 *
 * Where `setpriv` supports death signals, the kernel kills a process with its parent, even if it is stopped. The
 * watchdog also works without them (macOS, BusyBox), and covers processes that workloads and programs started: it is a
 * shell that reads a pipe from the worker, and kills the process groups when the pipe closes.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { startProcess } from './start-process.ts'

export class Watchdog {
  readonly #shell: ChildProcess
  readonly #exited: Promise<unknown>

  /** `folder`: a temporary folder to remove as well. */
  constructor(folder = '') {
    const script = [
      'while read -r pids; do last=$pids; done',
      'for p in $last; do kill -s KILL -- -$p; done',
      '[ -z "$1" ] || PATH=/usr/bin:/bin rm -rf -- "$1"',
    ].join('; ')
    // In a process group of its own, so that an interrupt of the worker's group does not end it first.
    this.#shell = startProcess(['/bin/sh', '-c', script, 'watchdog', folder], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#exited = once(this.#shell, 'exit').catch(() => {})
    this.#shell.on('error', () => {})
    // Without free descriptors it has none, and the kernel's death signal alone ends slots and programs.
    this.#shell.stdin?.on('error', () => {})
  }

  /** Replaces the list of process groups to kill. */
  watch(pids: readonly number[]): void {
    if (this.#shell.stdin?.writable) this.#shell.stdin.write(`${pids.join(' ')}\n`)
  }

  /** Kills the groups passed to the last `watch`. */
  async close(): Promise<void> {
    this.#shell.stdin?.end()
    await this.#exited
  }
}
