/**
 * Compares how long requests take at an attacked cluster and, at the same moment, at one that nobody attacks. Whatever
 * else the machine does delays both, so their ratio is what the attack costs. All clients begin a round together: out of step, they
 * would meet at one cluster only (decisions/197-clients-in-step.md).
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

interface Times {
  calmMs: number
  attackedMs: number
}

export class Pace {
  readonly #attacked: Up
  readonly #calm: Up
  readonly #agent = new Agent({ keepAlive: true, localAddress })
  readonly #loop: Promise<void>
  #rounds: Times[] = []
  #beganAt = 0
  #open = true

  constructor(attacked: Up, calm: Up) {
    this.#attacked = attacked
    this.#calm = calm
    this.#loop = this.#run()
  }

  /** Rounds that start from now on count. */
  begin(): void {
    this.#rounds = []
    this.#beganAt = performance.now()
  }

  /** Resolves when this many rounds were measured, or the clients lose their patience. */
  async rounds(count: number): Promise<void> {
    const ends = performance.now() + patienceMs
    while (this.#rounds.length < count && performance.now() < ends) await delay(20)
  }

  /** Requests that still wait count with the time that they have waited. */
  async stop(): Promise<void> {
    this.#open = false
    this.#agent.destroy()
    await this.#loop
  }

  /** How many times as long requests took at the attacked cluster. */
  get slowdown(): number {
    return (
      upperQuartile(this.#rounds.map(({ attackedMs }) => attackedMs)) /
      upperQuartile(this.#rounds.map(({ calmMs }) => calmMs))
    )
  }

  async #run(): Promise<void> {
    while (this.#open) {
      const began = performance.now()
      const times = await Promise.all(Array.from({ length: clients }, () => this.#both()))
      // A round that waited until the end counts, whenever it started.
      if (began >= this.#beganAt || !this.#open) this.#rounds.push(...times)
      await delay(pauseMs)
    }
  }

  /** One client's round at each cluster. */
  async #both(): Promise<Times> {
    const [calmMs, attackedMs] = await Promise.all([this.#round(this.#calm), this.#round(this.#attacked)])
    return { calmMs, attackedMs }
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
