/** Two clusters with one PostgreSQL database: the one that leads is killed again and again, the other one takes over. */

import { setTimeout as delay } from 'node:timers/promises'
import { Disturbances } from '../../test/support/hostile/disturbances.ts'
import { startUp, type Up } from '../../test/support/hostile/up.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { type Counts, type Draw, doHarm, type Harm, harmsOf, signal } from './harms.ts'
import { cutHarm } from './one-machine.ts'
import { type PartResult, stopAll, underLoad } from './part.ts'

export interface TwoMachines extends PartResult {
  machineKills: number
  standbyKills: number
  databaseCrashes: number
  cuts: CuttingProxy['cuts']
  /** From the kill of the leading cluster to the line with which the other one goes on. */
  takeOversMs: number[]
}

/** Rarer than on one machine: a take-over takes seconds. */
const everyMs = 2_000
/** A dead machine is replaced after this time. */
const replaceMs = 1_000
const leads = /goes on with \d+ job/

interface Machine {
  up: Up
  /** Lines of its log that have been read. */
  seen: number
}

/** Undefined, with a line that says why, without PostgreSQL. */
export async function twoMachines(
  forMs: number,
  draw: Draw,
  counts: Counts,
): Promise<TwoMachines | undefined> {
  const server = await startPostgres()
  if (!server) return undefined
  const disturbances = new Disturbances()
  // Connections to the database are cut; clients do not notice.
  const proxy = await CuttingProxy.open(
    () => server.port,
    () => {},
  )
  const database = new URL(await server.createDatabase())
  database.port = `${proxy.port}`
  let jobsLost = 0
  const pair = new Pair(database.href, disturbances)
  try {
    await pair.begin()
    const urls = () => pair.machines.filter(({ up }) => !up.isDead).map(({ up }) => up.url)
    const service = { urls, isOver: () => pair.isStopped, disturbances }
    let databaseCrashes = 0
    const crash: Harm['begin'] = (draws, lasting) => {
      databaseCrashes++
      lasting(server.crash().then(() => delay(3_000 * draws()).then(() => server.start())))
      return true
    }
    const harms = [
      ...pair.harms(counts),
      { ...cutHarm(proxy), weight: 3 },
      { name: 'crash database', weight: 0.4, begin: onlyOnce(crash) },
    ]
    const isOver = () => pair.isStopped
    const result = await underLoad(
      service,
      () => pair.machines.map(({ up }) => up),
      async (_, jobs) => {
        // On a busy machine it takes a while until the first cluster leads.
        while (jobs.counts.accepted === 0 && !isOver()) await delay(50)
        await doHarm(harms, { forMs, everyMs, draw, isOver })
      },
    )
    jobsLost = result.jobs.accepted - result.jobs.completed
    const { machineKills, standbyKills, takeOversMs } = pair
    return { ...result, machineKills, standbyKills, takeOversMs, databaseCrashes, cuts: proxy.cuts }
  } finally {
    await pair.stop(jobsLost)
    proxy.close()
    await server.stop()
  }
}

/** Does nothing while what it has begun lasts. */
function onlyOnce(begin: Harm['begin']): Harm['begin'] {
  let isBusy = false
  return (draw, lasting) => {
    if (isBusy) return false
    isBusy = true
    return begin(draw, (end) => lasting(end.finally(() => (isBusy = false))))
  }
}

class Pair {
  readonly machines: Machine[] = []
  readonly takeOversMs: number[] = []
  machineKills = 0
  standbyKills = 0
  isStopped = false
  readonly #store: string
  readonly #disturbances: Disturbances
  readonly #gone: Up[] = []
  readonly #starting = new Set<Promise<unknown>>()
  #leader: Machine | undefined
  /** When the leading machine was killed. Undefined: another one leads by now. */
  #killedAt: number | undefined
  #watch: NodeJS.Timeout | undefined

  constructor(store: string, disturbances: Disturbances) {
    this.#store = store
    this.#disturbances = disturbances
  }

  async begin(): Promise<void> {
    this.#watch = setInterval(() => this.#look(), 20)
    await this.#start()
    this.#leader = this.machines[0]
    await this.#start('--standby')
  }

  harms(counts: Counts): Harm[] {
    let drawn = 0
    // In turn, so that the draws stay the same whatever the machines do.
    const up = () => this.machines[drawn++ % Math.max(1, this.machines.length)]?.up
    const kill = (isLeader: boolean): Harm['begin'] => {
      return (_, lasting) => {
        const machine = this.machines.find((each) => (each === this.#leader) === isLeader)
        if (!machine || this.machines.length < 2 || (isLeader && this.#killedAt !== undefined)) return false
        lasting(this.#replace(machine, isLeader))
        counts.kills++
        return true
      }
    }
    return [
      { name: 'kill leading machine', weight: 3, begin: kill(true) },
      { name: 'kill standby', weight: 0.7, begin: kill(false) },
      ...harmsOf('keeper', { up, counts }),
      ...harmsOf('brain', { up, counts }),
    ]
  }

  async stop(jobsLost: number): Promise<void> {
    this.isStopped = true
    clearInterval(this.#watch)
    await Promise.allSettled(this.#starting)
    await stopAll([...this.machines.map(({ up }) => up), ...this.#gone], jobsLost)
  }

  async #start(...standby: string[]): Promise<void> {
    const size = ['--min', '1', '--max', '1', '--queue', '2000', '--stop-after', '2']
    const starting = startUp({ flags: ['--store', this.#store, ...standby, ...size] })
    this.#starting.add(starting)
    this.machines.push({ up: await starting, seen: 0 })
    this.#starting.delete(starting)
  }

  async #replace(machine: Machine, isLeader: boolean): Promise<void> {
    this.machines.splice(this.machines.indexOf(machine), 1)
    this.#gone.push(machine.up)
    if (isLeader) {
      this.machineKills++
      this.#killedAt = performance.now()
    } else this.standbyKills++
    this.#disturbances.instant()
    signal(machine.up.pid, 'SIGKILL')
    await delay(replaceMs)
    await this.#start('--standby')
  }

  /** A cluster leads as soon as it says so, until another one does. */
  #look(): void {
    for (const machine of this.machines) {
      const fresh = machine.up.lines.slice(machine.seen)
      machine.seen += fresh.length
      if (!fresh.some((line) => leads.test(line))) continue
      this.#leader = machine
      if (this.#killedAt === undefined) continue
      this.takeOversMs.push(Math.round(performance.now() - this.#killedAt))
      this.#killedAt = undefined
    }
  }
}
