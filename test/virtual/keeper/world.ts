/**
 * Keepers in virtual time: the real keeper with its webhooks runs over a store that fails, fronts that die and clients that
 * repeat themselves, while a seed draws requests and faults.
 */

import { stream } from '../../../src/lib/random.ts'
import { MemoryJobStore } from '../../../src/store/memory.ts'
import { VirtualTime } from '../time.ts'
import { Clients } from './clients.ts'
import { Cluster } from './cluster.ts'
import { virtualDelays } from './delays.ts'
import { Judge, type KeeperCounts } from './judge.ts'
import { KeeperProcess } from './keeper-process.ts'
import { busyMs, type Fault, type Plan } from './plan.ts'
import { Receivers } from './receivers.ts'
import { Weather } from './store.ts'

/** Then everything must have come to rest; it is checked this often, and watched for some time more. */
const [restMs, checkMs, watchMs] = [600_000, 1_000, 70_000]

/** A process that stalls works with a slow store for this time. */
const stallMs = 1_000

export interface Run {
  counts: KeeperCounts
  failures: string[]
}

/** `lines`: where events are logged. */
export async function runPlan(plan: Plan, lines?: string[]): Promise<Run> {
  const time = new VirtualTime()
  const random = stream(plan.seed, 'timers')
  using _installed = time.install(() => random.next())
  using _delays = virtualDelays()
  const judge = new Judge(() => time.now, plan, lines)
  time.onUncaught = (process, error) => judge.uncaught(process, error)
  await new World(plan, time, judge).run()
  return { counts: judge.counts, failures: judge.failures }
}

class World {
  readonly #plan: Plan
  readonly #time: VirtualTime
  readonly #judge: Judge
  readonly #memory: MemoryJobStore
  readonly #weather = new Weather()
  readonly #cluster: Cluster
  readonly #receivers: Receivers
  readonly #keepers: KeeperProcess[]
  readonly #clients: Clients
  #clockMs = 0
  #storeClockMs = 0

  constructor(plan: Plan, time: VirtualTime, judge: Judge) {
    this.#plan = plan
    this.#time = time
    this.#judge = judge
    this.#memory = new MemoryJobStore({ now: () => time.now + this.#storeClockMs })
    const random = (purpose: string) => stream(plan.seed, purpose)
    const common = { time, judge, isCalm: plan.isCalm }
    const request = (target: string) => plan.requests.find(({ number }) => target === `/w?n=${number}`)!
    this.#cluster = new Cluster({
      ...common,
      random: random('cluster'),
      longAnswers: plan.longAnswers,
      request,
    })
    this.#receivers = new Receivers({ ...common, random: random('receivers') })
    this.#keepers = Array.from({ length: plan.clusters }, (_, index) => {
      const name = `keeper ${'ab'[index]}`
      return new KeeperProcess({
        ...{ name, time, judge, memory: this.#memory, weather: this.#weather, most: plan.most },
        ...{ cluster: this.#cluster, receivers: this.#receivers, random: random(name) },
        ...{ isAlone: plan.clusters === 1, clockMs: () => this.#clockMs },
      })
    })
    const parts = { time, judge, random: random('clients'), keepers: this.#keepers, memory: this.#memory }
    this.#clients = new Clients(parts)
  }

  async run(): Promise<void> {
    const isOver = () => this.#judge.failures.length > 0
    for (const request of this.#plan.requests) this.#clients.plan(request)
    for (const fault of this.#plan.faults) this.#time.plan(fault.at, () => this.#fault(fault))
    await this.#time.run(busyMs, isOver)
    this.#calmDown()
    for (let at = busyMs; at < busyMs + restMs; at += checkMs) {
      await this.#time.run(at, isOver)
      if (isOver() || (await this.#isQuiet())) break
    }
    if (!isOver()) await this.#judgeAtRest()
    await this.#time.run(this.#time.now + watchMs, isOver)
    if (isOver()) return
    this.#judgeMemory()
    await this.#clients.seeAll()
    this.#inKeepers((keeper) => keeper.stop())
    await this.#time.run(this.#time.now + checkMs, isOver)
  }

  #inKeepers(run: (keeper: KeeperProcess) => void): void {
    for (const keeper of this.#keepers)
      this.#time.schedule(this.#time.now, 'input', keeper.process, () => run(keeper))
  }

  #fault(fault: Fault): void {
    const { at, kind, ms, which } = fault
    const judge = this.#judge
    judge.counts.faults++
    judge.log(() => `fault: ${kind} for ${ms.toFixed(0)} ms`)
    const keeper = this.#keepers[Math.floor(which * this.#keepers.length)]!
    const { process } = keeper
    const until = at + ms
    if (kind === 'kill') keeper.kill()
    else if (kind === 'stop') this.#time.schedule(this.#time.now, 'input', process, () => void keeper.stop())
    // Often longer than a lease lasts.
    else if (kind === 'freeze') process.frozenUntilMs = at + ms * 4
    else if (kind === 'stall') {
      this.#weather.slow = at + stallMs * 1.5
      this.#time.plan(at + stallMs, () => {
        process.frozenUntilMs = at + stallMs + 6_000 + ms
      })
    } else if (kind === 'front') this.#cluster.killFront(which, ms)
    else if (kind === 'brain') this.#cluster.brainBack = until
    else if (kind === 'busy') this.#cluster.busyUntil = until
    else if (kind === 'receiver') this.#receivers.awayUntil = until
    else if (kind === 'clock') this.#clockMs += (which - 0.5) * 4 * 24 * 3_600_000 * which
    else if (kind === 'store-clock') this.#storeClockMs += which * 20_000
    else this.#weather[kind] = until
    if (kind === 'shaky') this.#weather.shakyOdds = 0.2 + which * 0.75
  }

  /** No more faults. */
  #calmDown(): void {
    Object.assign(this.#weather, { full: 0, shaky: 0, slow: 0, unreachable: 0 })
    this.#cluster.brainBack = 0
    this.#cluster.busyUntil = 0
    this.#receivers.awayUntil = 0
    this.#receivers.isCalm = true
    for (const { process } of this.#keepers) process.frozenUntilMs = 0
  }

  async #isQuiet(): Promise<boolean> {
    if (!this.#clients.areDone || !this.#keepers.some(({ keeper }) => keeper)) return false
    for await (const _ of this.#memory.open()) return false
    return (await this.#memory.waitingWebhooks(1)).length === 0
  }

  async #judgeAtRest(): Promise<void> {
    const judge = this.#judge
    if (!this.#clients.areDone) judge.fail('a client is not answered')
    for await (const { id } of this.#memory.open()) judge.fail(`job ${id} has no end`)
    for (const { id, webhook } of await this.#memory.waitingWebhooks(1_000))
      judge.fail(`the webhook of job ${id} was not delivered: ${webhook?.problem}`)
  }

  /** What has ended must not be remembered any more. */
  #judgeMemory(): void {
    const leader = this.#keepers.find(({ keeper }) => keeper)
    if (!leader) return this.#judge.fail('no keeper leads')
    for (const id of this.#judge.ids)
      if (leader.keeper!.standing(id)) this.#judge.fail(`job ${id} has ended, but its keeper remembers it`)
    const open = this.#cluster.openOf(leader.process)
    if (open > 0) this.#judge.fail(`${open} connections to fronts are open`)
  }
}
