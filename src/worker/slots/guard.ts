/**
 * Sees to it that no slot outlives its supervisor, however that ends, and that none grows without bound.
 *
 * Where `setpriv` can ask for a death signal, the kernel ends a slot with its parent, stopped or not. Beside it
 * stands a watchdog, a shell that holds a pipe from the supervisor: when the pipe closes it kills the process
 * groups of all slots, and so also ends slots where there is no such `setpriv` (macOS, BusyBox) and the
 * processes that workloads started.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { ownDataMb } from './proc.ts'

/** The runtime's own resident memory, its young generation left out. */
const runtimeMb = 52

/** The smallest bound that leaves a job some room. */
export const leastMemoryMb = 96

/**
 * Sizes of V8's heap so that a job which keeps within them stays under the bound however much garbage it makes:
 * V8 collects before it gives up, whereas the watch on resident memory cannot tell garbage from use.
 */
export function heapSizes(memoryMb: number): { oldMb: number; semiMb: number } {
  const semiMb = Math.min(16, Math.max(1, Math.floor(memoryMb / 32)))
  return { oldMb: Math.floor(memoryMb - runtimeMb - 2 * semiMb), semiMb }
}

/** How to start a slot: a command to which the program and its arguments are appended. */
export function launcher(memoryMb: number): string[] {
  const limits = ['ulimit -c 0 2>/dev/null']
  const dataMb = ownDataMb()
  if (dataMb !== undefined) {
    // The hard stop for what eats faster than the watch looks. It counts address space, much of it never
    // touched, so it is set above what this process, the same program, has; and then with room to spare.
    const mostMb = dataMb + 1.25 * memoryMb + 128
    limits.push(`ulimit -d ${Math.ceil(mostMb * 1024)} 2>/dev/null`)
  }
  const script = [...limits, 'exec "$@"'].join('; ')
  return ['/bin/sh', '-c', script, 'slot', ...deathSignal()]
}

let asked: string[] | undefined

/** What to put before a command so that the kernel kills it when this process ends; nothing where that cannot be. */
export function deathSignal(): string[] {
  const prefix = ['setpriv', '--pdeathsig', 'KILL']
  asked ??=
    spawnSync(prefix[0]!, [...prefix.slice(1), 'true'], { stdio: 'ignore' }).status === 0 ? prefix : []
  return asked
}

export class Watchdog {
  readonly #shell: ChildProcess
  readonly #gone: Promise<unknown>

  /** `folder`: one of ours, to be removed as well. */
  constructor(folder = '') {
    const script = [
      'while read -r pids; do last=$pids; done',
      'for p in $last; do kill -s KILL -- -$p; done',
      '[ -z "$1" ] || PATH=/usr/bin:/bin rm -rf -- "$1"',
    ].join('; ')
    // In a group of its own, so that what interrupts the supervisor's group does not end its watchdog first.
    this.#shell = spawn('/bin/sh', ['-c', script, 'watchdog', folder], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#gone = once(this.#shell, 'exit').catch(() => {})
    this.#shell.stdin!.on('error', () => {})
  }

  /** The slots that are alive now; each leads a process group. */
  watch(pids: readonly number[]): void {
    if (this.#shell.stdin!.writable) this.#shell.stdin!.write(`${pids.join(' ')}\n`)
  }

  /** Ends what `watch` named last. */
  async close(): Promise<void> {
    this.#shell.stdin!.end()
    await this.#gone
  }
}
