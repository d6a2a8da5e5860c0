/**
 * Ensures that no slot or program outlives its worker, however the worker ends.
 *
 * Where `setpriv` supports death signals, the kernel kills a process with its parent, even if it is stopped. The
 * watchdog also works without them (macOS, BusyBox), and covers processes that workloads and programs started: it is a
 * shell that reads a pipe from the worker. When the pipe closes, it kills the process groups, and processes that have
 * left them, which it finds by their marks.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Marks, markName } from './marks.ts'
import { startProcess } from './start-process.ts'
import { Stragglers } from './stragglers.ts'

const script = `
while read -r pids; do last=$pids; done
for p in $last; do kill -s KILL -- -$p; done
PATH=/usr/bin:/bin
[ -z "$1" ] || rm -rf -- "$1"
for round in 1 2 3 4 5; do
  found=$(grep -lsF "${markName}=$2" /proc/[0-9]*/environ)
  [ -n "$found" ] || break
  for file in $found; do p=\${file#/proc/}; kill -s KILL "\${p%/environ}"; done
done`

export class Watchdog {
  readonly #shell: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #marks = new Marks()
  readonly #stragglers = new Stragglers()

  /** `folder`: a temporary folder to remove as well. */
  constructor(folder = '') {
    // In a process group of its own, so that an interrupt of the worker's group does not end it first.
    this.#shell = startProcess(['/bin/sh', '-c', script, 'watchdog', folder, this.#marks.prefix], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      env: {},
    })
    this.#exited = once(this.#shell, 'exit').catch(() => {})
    this.#shell.on('error', () => {})
    // Without free descriptors it has none, and the kernel's death signal alone ends slots and programs.
    this.#shell.stdin?.on('error', () => {})
  }

  /** The mark of a slot or program that is about to start. */
  newMark(): string {
    return this.#marks.next()
  }

  /** A slot or program has ended. What it started and left its process group is killed. */
  ended(mark: string): void {
    this.#stragglers.end(mark)
  }

  /** Replaces the list of process groups to kill. */
  watch(pids: readonly number[]): void {
    if (this.#shell.stdin?.writable) this.#shell.stdin.write(`${pids.join(' ')}\n`)
  }

  /** Kills the groups passed to the last `watch`, and all processes with marks. */
  async close(): Promise<void> {
    this.#shell.stdin?.end()
    await Promise.all([this.#exited, this.#stragglers.done()])
  }
}
