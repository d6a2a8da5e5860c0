/** The fronts of a simulated tiered cluster. Requests arrive at the coordinator and at each front in turn. */

import type { Environment, Process } from './environment.ts'

export class SimFronts {
  readonly #world: Environment
  readonly #nodes = new Set<Process>()
  #turn = 0

  constructor(world: Environment) {
    this.#world = world
  }

  add(node: Process): void {
    this.#nodes.add(node)
  }

  /** The node has died, and with it the connections of its clients. */
  gone(node: Process): void {
    this.#nodes.delete(node)
    const { truths } = this.#world
    const cut = [...truths.values()].filter(({ job }) => job.front === node.id)
    for (const { job } of cut) this.#world.hangUp(job.id)
  }

  /** The front of the next request. Undefined: the coordinator. */
  next(): Process | undefined {
    if (this.#nodes.size === 0) return undefined
    const open = [...this.#nodes].filter((node) => !node.frozen && !this.#world.draining.has(node.id))
    return [undefined, ...open][this.#turn++ % (open.length + 1)]
  }
}
