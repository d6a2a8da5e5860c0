/** A simulated provider: machines that boot, run and end. */

import { type Random, stream } from '../lib/random.ts'
import { type Happening, rank } from './clock.ts'
import type { Environment, Process } from './environment.ts'

interface Machine {
  readonly launch: string
  /** Set while it boots. */
  boots: Happening | undefined
  node: Process | undefined
}

export class SimProvider {
  readonly #world: Environment
  readonly #boots: Random
  readonly #machines = new Set<Machine>()
  /** Machines by their running process. */
  readonly #running = new Map<Process, Machine>()
  #copies = 0
  #strays = 0

  constructor(world: Environment, seed: number) {
    this.#world = world
    this.#boots = stream(seed, 'boots')
  }

  launch(launch: string): void {
    const { faults, fleet, brain } = this.#world.parts
    const bootMs = fleet.bootMs * (faults ? 0.5 + this.#boots.next() : 1)
    const fate = faults?.provider.launch() ?? 'comes'
    if (fate === 'fails') {
      this.#failed(launch, bootMs)
      return
    }
    const machine = this.#add(launch)
    if (fate === 'hangs') return
    if (fate === 'dies') {
      const diesMs = bootMs * faults!.provider.part()
      this.#world.clock.at(this.#world.clock.now + diesMs, rank.fault, () => this.#end(machine))
      this.#failed(launch, diesMs)
      return
    }
    const lateMs = fate === 'late' ? (brain.limits.bootMs ?? 0) : 0
    this.#boot(machine, `w${launch}`, bootMs + lateMs)
    if (fate === 'twice') this.#boot(this.#add(launch), `w${launch}-${++this.#copies}`, bootMs)
    if (fate === 'twin-hangs') this.#add(launch)
  }

  stray(joins: boolean): void {
    const launch = `0-stray${++this.#strays}`
    const machine = this.#add(launch)
    if (joins) this.#boot(machine, `w${launch}`, this.#world.parts.fleet.bootMs)
  }

  /** Ends all machines of a launch. Idempotent. */
  end(launch: string): void {
    for (const machine of this.#machines) if (machine.launch === launch) this.#end(machine)
  }

  /** The process has ended, and its machine with it. */
  died(node: Process): void {
    const machine = this.#running.get(node)
    if (!machine) return
    this.#running.delete(node)
    this.#machines.delete(machine)
  }

  list(): string[] {
    return [...this.#machines].map(({ launch }) => launch)
  }

  /** Launches of all machines that a brain has asked for. */
  launched(): string[] {
    return this.list().filter((launch) => !launch.startsWith('0-'))
  }

  #add(launch: string): Machine {
    const machine: Machine = { launch, boots: undefined, node: undefined }
    this.#machines.add(machine)
    return machine
  }

  #boot(machine: Machine, id: string, bootMs: number): void {
    const { clock } = this.#world
    machine.boots = clock.at(clock.now + bootMs, rank.fault, () => {
      machine.boots = undefined
      machine.node = this.#world.boot(machine.launch, id)
      // Without a network in between, the brain may have terminated it already.
      if (machine.node.alive) this.#running.set(machine.node, machine)
      else this.#machines.delete(machine)
    })
  }

  #end(machine: Machine): void {
    this.#machines.delete(machine)
    if (machine.boots) this.#world.clock.cancel(machine.boots)
    machine.boots = undefined
    machine.node?.die()
  }

  #failed(launch: string, afterMs: number): void {
    const { clock, parts } = this.#world
    if (parts.faults?.provider.tellsFailure() === false) return
    clock.at(clock.now + afterMs, rank.fault, () =>
      this.#world.tell({ type: 'launch-failed', launch, message: 'no capacity' }),
    )
  }
}
