/**
 * Supervises a cluster: runs the brain, the fronts and the workers in processes of their own and restarts the brain and
 * fronts when they end. Fronts hold their requests, and workers go on, while the brain is away. Loads next to nothing, so that
 * it is small and nothing can break it.
 */

import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { epochOf } from '../../wire/leading.ts'
import type { Tokens } from '../../wire/token.ts'
import { deathSignal } from '../../worker/processes/death-signal.ts'
import { startProcess } from '../../worker/processes/start-process.ts'
import { servingEnvironment } from '../child-environment.ts'
import { WorkerProcesses } from '../fleet/worker-processes.ts'
import type { FrontSettings } from '../fronts/front-channel.ts'
import { FrontProcesses } from '../fronts/front-processes.ts'
import { bindQueues, type Queues } from '../fronts/reused-port.ts'
import { KeeperSeat } from '../keeper/keeper-seat.ts'
import type { BrainMemory, FromBrain, OpenRequest, ToBrain } from './messages.ts'

export interface SupervisorOptions {
  /** The commands that start the brain's process and a front's. */
  brain: readonly string[]
  front: readonly string[]
  /** The command that starts the keeper. Undefined: requests are not kept. */
  keeper?: readonly string[]
  /** Given by the environment, which the other processes do not see. */
  tokens: Partial<Tokens>
  log(line: string): void
  effects?: SupervisorEffects
}

/** How it starts processes and binds the port. Tests that run it in virtual time replace this. */
export interface SupervisorEffects {
  start: typeof startProcess
  bind: typeof bindQueues
}

/** Backoff of restarts of the brain; the first one is immediate. It resets for a brain that lasted `soonMs`. */
const [firstWaitMs, longestWaitMs, soonMs] = [250, 30_000, 10_000]
/** Time allowed for fronts to end when no brain tells them how long. */
const lastGraceMs = 1_000
const realEffects: SupervisorEffects = { start: startProcess, bind: bindQueues }

type WorkerMessage = Extract<
  FromBrain,
  { type: 'launch' | 'worker-joined' | 'terminate' | 'list-workers' | 'close-workers' }
>

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #effects: SupervisorEffects
  readonly #fronts: FrontProcesses
  readonly #keeper: KeeperSeat | undefined
  readonly #workers: WorkerProcesses
  readonly #ended = Promise.withResolvers<number>()
  #brain: ChildProcess | undefined
  #isServing = false
  #queues: Queues | undefined
  #settings: FrontSettings | undefined
  #memory: BrainMemory | undefined
  #epoch = 0
  #term: number | undefined
  #waitMs = 0
  #restart: NodeJS.Timeout | undefined
  #stopping = false
  /** A reload was asked for while no brain could handle it. */
  #reload = false

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#effects = options.effects ?? realEffects
    const { keeper: command } = options
    this.#keeper =
      command &&
      new KeeperSeat({
        ...{ command, start: this.#effects.start, log: options.log },
        changed: (place) => {
          this.#fronts.tellKeeper(place)
          this.#tellKeeper()
        },
        led: (term) => this.#led(term),
      })
    this.#fronts = new FrontProcesses({
      command: options.front,
      keeper: {
        address: () => this.#keeper?.place,
        want: () => this.#keeper?.want(),
        fronts: (ports) => this.#keeper?.fronts(ports),
      },
      start: this.#effects.start,
      started: (front) => this.#tell({ type: 'started', front }),
      gone: (front) => this.#tell({ type: 'gone', front }),
      log: options.log,
    })
    this.#workers = new WorkerProcesses({
      start: this.#effects.start,
      queue: () => this.#queues?.sockets[0]?.handle,
      events: {
        launchFailed: (launch, message, output) =>
          this.#tell({ type: 'launch-failed', launch, message, ...(output !== undefined && { output }) }),
        gone: (launch, message) => this.#tell({ type: 'worker-gone', launch, message }),
      },
      log: options.log,
    })
  }

  /** Resolves with the exit code when all processes have ended. */
  run(): Promise<number> {
    this.#startBrain()
    this.#fronts.prepare()
    return this.#ended.promise
  }

  /** The brain stops the cluster in good order. */
  stop(signal: 'SIGTERM' | 'SIGINT'): void {
    this.#stopping = true
    if (this.#brain) return void this.#brain.kill(signal)
    clearTimeout(this.#restart)
    void this.#end(0)
  }

  /** The brain reads the code again. */
  reload(): void {
    this.#reload = !this.#isServing
    if (this.#isServing) this.#brain?.kill('SIGHUP')
  }

  #startBrain(): void {
    const began = performance.now()
    const brain = this.#effects.start([...deathSignal(), ...this.#options.brain], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // In its own process group: it is told of Ctrl-C here.
      detached: true,
      env: servingEnvironment(),
    })
    this.#brain = brain
    let isOver = false
    const over = (code: number | null, how: string) => {
      if (isOver) return
      isOver = true
      this.#brainEnded(performance.now() - began, code, how)
    }
    brain.on('error', ({ message }) => over(null, message))
    brain.on('exit', (code, signal) =>
      signal
        ? over(this.#stopping ? 128 + constants.signals[signal] : null, `was killed by ${signal}`)
        : over(code, `ended with code ${code}`),
    )
    brain.on('message', (message: FromBrain) => this.#receive(brain, message))
    const { tokens } = this.#options
    // A brain that is restarted within the same second must not repeat the tokens of the one before.
    this.#epoch = Math.max(this.#epoch + 1, Math.floor(Date.now() / 1000))
    this.#tell({
      ...{ type: 'begin', epoch: this.#epoch, tokens, workers: this.#workers.list() },
      leads: this.#term !== undefined,
      ...(this.#memory && { memory: this.#memory }),
    })
    this.#tellKeeper()
  }

  /** Tokens of a leader's brain are newer than those of all leaders before, whatever their clocks say. */
  #led(term: number | undefined): void {
    if (term === this.#term) return
    this.#term = term
    if (term === undefined) return this.#tell({ type: 'leads' })
    this.#epoch = Math.max(this.#epoch + 1, epochOf(term))
    this.#tell({ type: 'leads', epoch: this.#epoch })
  }

  /** For fronts of other machines, which ask the brain. */
  #tellKeeper(): void {
    const place = this.#keeper?.place
    this.#tell({ type: 'keeper', ...(place && { place }) })
  }

  /** `code`: null if it did not end by itself. */
  #brainEnded(lastedMs: number, code: number | null, how: string): void {
    this.#brain = undefined
    this.#isServing = false
    // Before the port is open, an exit code reports a mistake of the user.
    if (code === 0 || this.#stopping || (code !== null && !this.#queues)) return void this.#end(code ?? 1)
    if (lastedMs > soonMs) this.#waitMs = 0
    this.#options.log(
      `brain: ${how}; it is restarted${this.#waitMs > 0 ? ` in ${this.#waitMs / 1000} s` : ''}; fronts hold requests, and workers go on`,
    )
    this.#restart = setTimeout(() => this.#startBrain(), this.#waitMs)
    this.#waitMs = Math.min(longestWaitMs, Math.max(firstWaitMs, this.#waitMs * 2))
  }

  async #end(code: number): Promise<void> {
    this.#stopping = true
    await this.#fronts.close(this.#queues ? lastGraceMs : 0)
    await this.#keeper?.close(lastGraceMs)
    await this.#workers.close(lastGraceMs)
    this.#queues?.close()
    this.#ended.resolve(code)
  }

  #receive(brain: ChildProcess, message: FromBrain): void {
    // The last words of a brain that has ended would confuse the next one.
    if (brain !== this.#brain) return
    switch (message.type) {
      case 'open':
        return void this.#open(message)
      case 'renew':
        this.#settings = message.settings
        this.#memory = message.memory
        return
      case 'serving':
        this.#isServing = true
        if (this.#reload) this.reload()
        return
      case 'roll':
        return void this.#roll(brain)
      case 'want-keeper':
        return this.#keeper?.want()
      case 'close':
        this.#stopping = true
        return void this.#fronts.close(message.graceMs).then(() => this.#tell({ type: 'closed' }))
      default:
        return this.#useWorkers(message)
    }
  }

  #useWorkers(message: WorkerMessage): void {
    const workers = this.#workers
    switch (message.type) {
      case 'launch':
        return workers.launch(message.launch, message.start)
      case 'worker-joined':
        return workers.joined(message.launch)
      case 'terminate':
        return workers.terminate(message.launch, message.graceMs)
      case 'list-workers':
        return this.#tell({ type: 'workers', ask: message.ask, workers: workers.list() })
      case 'close-workers':
        this.#stopping = true
        return void workers.close(message.graceMs).then(() => this.#tell({ type: 'workers-closed' }))
    }
  }

  async #open({ port, host, count, drainMs, settings, memory, keeper }: OpenRequest): Promise<void> {
    const isFirst = !this.#queues
    try {
      this.#queues ??= await this.#effects.bind({ port, host, count }, '--port')
      this.#settings = settings
      this.#memory = memory
      this.#keeper?.use(keeper)
      const { sockets } = this.#queues
      this.#tell({ type: 'opened', port: this.#queues.port, fronts: this.#fronts.ids() })
      if (isFirst) await this.#fronts.open({ sockets, drainMs, settings: () => this.#settings! })
      else void this.#replaceStale()
      this.#tell({ type: 'listening' })
    } catch (error) {
      this.#tell({ type: 'failed', message: (error as Error).message })
    }
  }

  /** The roll goes on if the brain that asked for it ends. */
  async #roll(brain: ChildProcess): Promise<void> {
    const tell = (message: ToBrain) => {
      if (brain === this.#brain) this.#tell(message)
    }
    try {
      for await (const step of this.#fronts.roll()) tell({ type: 'rolled', step })
      tell({ type: 'roll-ended' })
    } catch (error) {
      tell({ type: 'roll-ended', error: (error as Error).message })
    }
  }

  /** The brain before may have ended in the middle of a change of version. */
  async #replaceStale(): Promise<void> {
    const wanted = JSON.stringify(this.#settings)
    try {
      for await (const { front, by } of this.#fronts.roll((its) => JSON.stringify(its) !== wanted))
        this.#options.log(`front ${front}: replaced by ${by}, which has the code of the brain`)
    } catch (error) {
      this.#options.log((error as Error).message)
    }
  }

  #tell(message: ToBrain): void {
    if (this.#brain?.connected) this.#brain.send(message, undefined, {}, () => {})
  }
}
