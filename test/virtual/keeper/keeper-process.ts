/** The process of a keeper: leads whenever no other cluster does, and is started again when it ends. */

import { Keeper } from '../../../src/keeper/keeper.ts'
import { Deliveries } from '../../../src/keeper/webhooks/deliveries.ts'
import type { Random } from '../../../src/lib/random.ts'
import { type TermParts, Terms } from '../../../src/live/keeper/terms.ts'
import type { JobStore } from '../../../src/store/store.ts'
import { keepAll } from '../../../src/store/testing/samples.ts'
import { newProcess, type VirtualProcess, type VirtualTime } from '../time.ts'
import type { Cluster } from './cluster.ts'
import type { Judge } from './judge.ts'
import { type Receivers, receiverHost } from './receivers.ts'
import { ReachedStore, type Weather } from './store.ts'

export interface KeeperProcessParts {
  /** Of its cluster. */
  name: string
  time: VirtualTime
  judge: Judge
  memory: JobStore
  weather: Weather
  cluster: Cluster
  receivers: Receivers
  random: Random
  most: number
  /** True: no other cluster uses the store, and opening it ends the leases of processes before. */
  isAlone: boolean
  /** How far its clock is off. */
  clockMs(): number
}

/** Of a folder, and of a database. */
const times = {
  alone: { ttlMs: 10_000, renewMs: 3_000, askMs: 3_000, yieldMs: 0 },
  shared: { ttlMs: 5_000, renewMs: 1_000, askMs: 250, yieldMs: 0 },
}
const restartMs = 250
const secret = `whsec_${Buffer.from('a secret of 24 bytes....').toString('base64')}`

export class KeeperProcess {
  readonly #parts: KeeperProcessParts
  process: VirtualProcess
  #starts = 0
  #terms: Terms | undefined
  /** Who waited for an end there is sent away. */
  readonly closed = new WeakSet<Keeper>()
  #isEnding = false

  constructor(parts: KeeperProcessParts) {
    this.#parts = parts
    this.process = newProcess('none')
    this.#start(0)
  }

  /** Undefined: it accepts no requests. */
  get keeper(): Keeper | undefined {
    return this.process.alive && !this.#isEnding ? this.#terms?.keeper : undefined
  }

  /** All its memory is gone. */
  kill(): void {
    if (!this.process.alive) return
    this.#parts.judge.log(() => `${this.process.name} is killed`)
    this.#over()
  }

  /** Stops in good order. */
  async stop(): Promise<void> {
    if (this.#isEnding) return
    this.#isEnding = true
    const { process } = this
    const { judge } = this.#parts
    judge.log(() => `${process.name} stops`)
    await this.#terms?.close()
    if (process.timers > 0) judge.fail(`${process.name} has closed, but ${process.timers} of its timers run`)
    if (process === this.process && process.alive) this.#over()
  }

  #over(): void {
    this.process.alive = false
    this.#start(restartMs * (1 + this.#parts.random.next() * 4))
  }

  #start(ms: number): void {
    const { time, judge, name, isAlone, random } = this.#parts
    const process = newProcess(`${name}.${++this.#starts}`)
    Object.assign(this, { process })
    this.#isEnding = false
    this.#terms = undefined
    const store = new ReachedStore({ ...this.#parts, process, random })
    time.schedule(time.now + ms, 'input', process, () => {
      const terms = new Terms({
        // All keepers of a supervisor.
        holder: name,
        ...{ store, ...(isAlone ? times.alone : times.shared), log: logOf(judge, process) },
        begin: (term, ending) => this.#begin(process, store, term, ending),
      })
      this.#terms = terms
      terms.start().catch((error) => {
        judge.log(() => `${process.name} does not start: ${(error as Error).message}`)
        if (process === this.process && process.alive) this.#over()
      })
    })
  }

  async #begin(
    process: VirtualProcess,
    store: JobStore,
    { epoch, leads, fenced }: TermParts,
    ending: AsyncDisposableStack,
  ): Promise<Keeper> {
    const { judge, cluster, receivers, random, most, clockMs } = this.#parts
    judge.began(process, epoch)
    const now = () => Math.floor(Date.now() + clockMs())
    const log = logOf(judge, process)
    const common = { store, epoch, now, log, random: () => random.next() }
    const keeper = new Keeper({
      ...{ ...common, fronts: () => cluster.ports(), token: 't', most, leads, cores: () => 2 },
      fenced: () => {
        this.closed.add(keeper)
        fenced()
      },
      limits: { jobs: 1_000, bytes: 2 ** 30, clientShare: 1 },
      retention: keepAll,
      send: (parts) => cluster.send(process, parts),
    })
    ending.defer(() => {
      this.closed.add(keeper)
      keeper.close()
    })
    await keeper.start()
    const deliveries = new Deliveries({
      ...{ ...common, hosts: [receiverHost], secret },
      post: (message) => receivers.post(process, message),
    })
    ending.adopt(deliveries, (each) => each.close())
    deliveries.start()
    // As in `run-keeper.ts`: before the deliveries.
    ending.defer(() => {
      this.closed.add(keeper)
      keeper.close()
    })
    judge.log(() => `${process.name} leads with epoch ${epoch}`)
    return keeper
  }
}

function logOf(judge: Judge, { name }: VirtualProcess): (line: string) => void {
  return (line) => judge.log(() => `${name}: ${line}`)
}
