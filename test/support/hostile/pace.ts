/**
 * Compares how long requests take at an attacked cluster and, at the same time, at one that nobody attacks. Whatever
 * else the machine does delays both, so their ratio is what the attack costs. The clients of one cluster never wait for the
 * other: waiting would space their requests out there, and they would meet no others (decisions/197-clients-in-step.md).
 */

import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { exchange } from './innocents.ts'
import type { Up } from './up.ts'

/** A client of its own, apart from the attackers and other innocents. */
const localAddress = '127.0.0.3'
const clients = 2
const pauseMs = 10
/** A round: one request that a scheduler puts first, and one that it puts behind jobs that seem shorter. */
const paths = ['/double?n=1', '/spin?ms=25']
const patienceMs = 30_000
/**
 * A greater slowdown is a failure. It is from 0.6 to 4 where attacks are withstood, the load of the machine being ten
 * times its cores; attacks that hold the cores or slots of others reach 17 to 240.
 */
export const mostSlowdown = 8

export class Pace {
  readonly #agent = new Agent({ keepAlive: true, localAddress })
  readonly #loops: Promise<void>[]
  #times: { calm: number[]; attacked: number[] } = { calm: [], attacked: [] }
  #beganAt = 0
  #open = true

  constructor(attacked: Up, calm: Up) {
    this.#loops = Array.from({ length: clients }, () => [
      this.#run(calm, 'calm'),
      this.#run(attacked, 'attacked'),
    ]).flat()
  }

  /** Rounds that start from now on count. */
  begin(): void {
    this.#times = { calm: [], attacked: [] }
    this.#beganAt = performance.now()
  }

  /** Resolves when this many rounds were measured at each cluster, or the clients lose their patience. */
  async rounds(count: number): Promise<void> {
    const ends = performance.now() + patienceMs
    const measured = () => Math.min(this.#times.calm.length, this.#times.attacked.length)
    while (measured() < count && performance.now() < ends) await delay(20)
  }

  /** Requests that still wait count with the time that they have waited. */
  async stop(): Promise<void> {
    this.#open = false
    this.#agent.destroy()
    await Promise.all(this.#loops)
  }

  /** How many times as long requests took at the attacked cluster. */
  get slowdown(): number {
    return upperQuartile(this.#times.attacked) / upperQuartile(this.#times.calm)
  }

  async #run(up: Up, kind: 'calm' | 'attacked'): Promise<void> {
    while (this.#open) {
      const began = performance.now()
      const ms = await this.#round(up)
      // A round that waited until the end counts, whenever it started.
      if (began >= this.#beganAt || !this.#open) this.#times[kind].push(ms)
      await delay(pauseMs)
    }
  }

  async #round(up: Up): Promise<number> {
    const began = performance.now()
    for (const path of paths)
      if (this.#open) await exchange(up.url + path, 'GET', this.#agent, { localAddress })
    return performance.now() - began
  }
}

/** One request in four takes longer: an attack delays as many, a moment in which the machine does something else does not. */
function upperQuartile(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.75)] ?? Number.NaN
}
