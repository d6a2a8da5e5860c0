/** The process of a keeper: takes the lease of the store, goes on with its jobs, and starts again when it ends. */

import { Keeper } from '../../../src/keeper/keeper.ts'
import { Deliveries } from '../../../src/keeper/webhooks/deliveries.ts'
import type { Random } from '../../../src/lib/random.ts'
import type { JobStore, Lease } from '../../../src/store/store.ts'
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

const [ttlMs, renewMs, restartMs] = [10_000, 3_000, 250]
const secret = `whsec_${Buffer.from('a secret of 24 bytes....').toString('base64')}`

export class KeeperProcess {
  readonly #parts: KeeperProcessParts
  process: VirtualProcess
  #starts = 0
  #keeper: Keeper | undefined
  #deliveries: Deliveries | undefined
  #lease: Lease | undefined
  #renewing: NodeJS.Timeout | undefined
  #isEnding = false

  constructor(parts: KeeperProcessParts) {
    this.#parts = parts
    this.process = newProcess('none')
    this.#start(0)
  }

  /** Undefined: it accepts no requests. */
  get keeper(): Keeper | undefined {
    return this.process.alive ? this.#keeper : undefined
  }

  /** Of its lease. */
  get epoch(): number {
    return this.#lease?.epoch ?? 0
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
    const wasOpen = this.#keeper !== undefined
    this.#keeper?.close()
    this.#keeper = undefined
    clearInterval(this.#renewing)
    await this.#deliveries?.close()
    if (wasOpen && process.timers > 0)
      judge.fail(`${process.name} has closed, but ${process.timers} of its timers run`)
    await this.#lease?.release().catch(() => {})
    if (process === this.process && process.alive) this.#over()
  }

  #over(): void {
    this.process.alive = false
    this.#start(restartMs * (1 + this.#parts.random.next() * 4))
  }

  #start(ms: number): void {
    const { time, judge, name, random } = this.#parts
    const process = newProcess(`${name}.${++this.#starts}`)
    Object.assign(this, { process })
    this.#keeper = undefined
    this.#deliveries = undefined
    this.#lease = undefined
    this.#isEnding = false
    const store = new ReachedStore({ ...this.#parts, process, random })
    time.schedule(time.now + ms, 'input', process, () => {
      this.#run(process, store).catch((error) => {
        judge.log(() => `${process.name} does not start: ${(error as Error).message}`)
        if (process === this.process && process.alive) this.#over()
      })
    })
  }

  async #run(process: VirtualProcess, store: JobStore): Promise<void> {
    const { time, judge, cluster, random, most, clockMs } = this.#parts
    const lease = await this.#lead(process, store)
    this.#lease = lease
    judge.began(process)
    const now = () => Math.floor(Date.now() + clockMs())
    const log = (line: string) => judge.log(() => `${process.name}: ${line}`)
    const keeper = new Keeper({
      cores: () => 2,
      ...{ store, epoch: lease.epoch, fronts: () => cluster.ports(), token: 't', most, now, log },
      retention: { keepMs: Infinity, keepBytes: Infinity, rememberMs: Infinity },
      random: () => random.next(),
      fenced: () => this.#fenced(process),
      send: (parts) => cluster.send(process, parts),
    })
    await keeper.start()
    if (this.#isEnding) return keeper.close()
    const deliveries = new Deliveries({
      ...{ store, epoch: lease.epoch, hosts: [receiverHost], secret, now, log },
      random: () => random.next(),
      post: (message) => this.#parts.receivers.post(process, message),
    })
    deliveries.start()
    this.#renewing = setInterval(() => void this.#renew(process, lease), renewMs)
    this.#keeper = keeper
    this.#deliveries = deliveries
    judge.log(() => `${process.name} leads with epoch ${lease.epoch} at ${time.now.toFixed(0)}`)
  }

  async #lead(process: VirtualProcess, store: JobStore): Promise<Lease> {
    const { isAlone, name } = this.#parts
    for (;;) {
      const lease = await store.lead(isAlone ? name : process.name, ttlMs)
      if (lease) return lease
      await new Promise((resolve) => setTimeout(resolve, renewMs))
    }
  }

  async #renew(process: VirtualProcess, lease: Lease): Promise<void> {
    const isOurs = await lease.renew(ttlMs).catch(() => true)
    if (!isOurs) this.#fenced(process)
  }

  #fenced(process: VirtualProcess): void {
    if (process === this.process) void this.stop()
  }
}
