/** The processes that the real supervisor of a virtual cluster starts: the brain, the fronts and the workers. */

import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { Supervisor, type SupervisorEffects } from '../../src/live/supervise/supervisor.ts'
import { startProcess } from '../../src/worker/processes/start-process.ts'
import { VirtualChild } from './child.ts'
import { type SpawnErrorCode, spawnError, spawnErrors } from './spawn-failures.ts'
import { newProcess, type VirtualProcess, type VirtualTime } from './time.ts'

export interface SupervisedParts {
  time: VirtualTime
  /** Starts the code of a process; called in it. */
  brain(process: VirtualProcess, child: VirtualChild): void
  front(process: VirtualProcess, child: VirtualChild, id: string): void
  worker(process: VirtualProcess, child: VirtualChild, launch: string): void
  /** A process has ended. */
  ended(process: VirtualProcess): void
  /** Time that a process takes to start. */
  startMs(kind: 'brain' | 'front' | 'worker'): number
  /** Why the system refuses to start a process now; undefined: it does not. */
  failure(kind: 'brain' | 'front' | 'worker'): SpawnErrorCode | undefined
  log(line: string): void
}

export class Supervised {
  readonly #parts: SupervisedParts
  readonly process = newProcess('supervisor')
  readonly #children = new Map<VirtualProcess, VirtualChild>()
  #started = 0

  constructor(parts: SupervisedParts) {
    this.#parts = parts
  }

  /** The supervisor starts the brain and the first front. */
  run(): void {
    const { time, log } = this.#parts
    const effects: SupervisorEffects = {
      start: (command, options) =>
        startProcess(command, options, (program, args, options) => this.#spawn([program, ...args], options)),
      bind: async ({ count }) => ({
        port: 80,
        sockets: Array.from({ length: count }, (_, seat) => ({
          ...{ port: 80, handle: { seat } as never },
          close() {},
        })),
        close() {},
      }),
    }
    time.schedule(time.now, 'input', this.process, () => {
      void new Supervisor({ brain: ['brain'], front: ['front'], tokens: {}, log, effects }).run()
    })
  }

  /** Ends a process as SIGKILL does, or with a code. */
  end(process: VirtualProcess, code: number | null = null): void {
    if (!process.alive) return
    process.alive = false
    this.#parts.ended(process)
    this.#children.get(process)?.ended(code)
  }

  #spawn(command: readonly string[], { stdio }: SpawnOptions): ChildProcess {
    const { time, startMs } = this.#parts
    const id = command.at(-1)!
    const kind = id === 'brain' ? 'brain' : command.includes('worker') ? 'worker' : 'front'
    const failure = this.#parts.failure(kind)
    if (failure && spawnErrors[failure].throws) throw spawnError(failure)
    const process = newProcess(`${kind} ${kind === 'brain' ? ++this.#started : id}`)
    process.frozenUntilMs = time.now + startMs(kind)
    const child = new VirtualChild({
      ...{ time, parent: this.process, process, pid: ++this.#started, stdio, failure },
      kill: () => this.end(process),
    })
    process.alive = !failure
    this.#children.set(process, child)
    time.schedule(time.now, 'input', process, () => this.#parts[kind](process, child, id))
    return child.asChild()
  }
}
