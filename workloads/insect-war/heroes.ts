/** Tracks the insects with the most kills, including fallen ones whose number was reused. */

import { kinds } from './kinds.ts'
import type { War } from './war.ts'

export interface Hero {
  army: 1 | 2
  kind: string
  kills: number
  hatchedInRound: number
  /** Undefined if it survived the war. */
  fellInRound?: number
}

const most = 10

export class Heroes {
  readonly #war: War
  readonly #fallen: Hero[] = []

  constructor(war: War) {
    this.#war = war
  }

  /** Call when an insect has fallen. */
  consider(insect: number): void {
    const kills = this.#war.kills[insect]!
    if (kills === 0 || (this.#fallen.length === most && kills <= this.#fallen.at(-1)!.kills)) return
    insert(this.#fallen, { ...this.#heroOf(insect), fellInRound: this.#war.round })
  }

  /** The best of the fallen and living insects, best first; among equals the earlier one. */
  best(): Hero[] {
    const heroes = [...this.#fallen]
    const { kills, health } = this.#war
    for (let insect = 0; insect < kills.length; insect++) {
      if (health[insect] === 0 || kills[insect] === 0) continue
      if (heroes.length < most || kills[insect]! > heroes.at(-1)!.kills) insert(heroes, this.#heroOf(insect))
    }
    return heroes
  }

  #heroOf(insect: number): Hero {
    const { kind, kills, bornInRound, armies } = this.#war
    return {
      army: insect < armies[1].first ? 1 : 2,
      kind: kinds[kind[insect]!]!.name,
      kills: kills[insect]!,
      hatchedInRound: bornInRound[insect]!,
    }
  }
}

function insert(heroes: Hero[], hero: Hero): void {
  const after = heroes.findIndex(({ kills }) => kills < hero.kills)
  heroes.splice(after === -1 ? heroes.length : after, 0, hero)
  if (heroes.length > most) heroes.pop()
}
