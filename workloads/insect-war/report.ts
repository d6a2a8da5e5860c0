/** The report of a finished war, and the losses by round. */

import type { Hero } from './heroes.ts'
import { kinds } from './kinds.ts'
import type { War } from './war.ts'

/** Losses of both armies in consecutive rounds. */
export interface Casualties {
  fromRound: number
  toRound: number
  army1: number
  army2: number
}

export interface ArmyReport {
  insects: number
  survivors: number
  fallen: number
  hatched: number
  /** Health of the nest, in percent. */
  nestPercent: number
  survivorsByKind: Record<string, number>
}

export interface Report {
  winner: 'army1' | 'army2' | 'draw'
  /** An army was destroyed, or all rounds were fought and the army with fewer losses won. */
  endedBy: 'destruction' | 'rounds'
  rounds: number
  army1: ArmyReport
  army2: ArmyReport
  casualties: Casualties[]
  heroes: Hero[]
}

/** Maximum number of entries; in a longer war each covers several rounds. */
const mostEntries = 100

/** Counts losses; call `round` after each round. */
export function casualtyList(war: War, rounds: number): { list: Casualties[]; round(): void } {
  const list: Casualties[] = []
  const roundsPerEntry = Math.ceil(rounds / mostEntries)
  const [one, two] = war.armies
  let [known1, known2] = [0, 0]
  const round = () => {
    if ((war.round - 1) % roundsPerEntry === 0) {
      list.push({ fromRound: war.round, toRound: war.round, army1: 0, army2: 0 })
    }
    const entry = list.at(-1)!
    entry.toRound = war.round
    entry.army1 += one.fallen - known1
    entry.army2 += two.fallen - known2
    known1 = one.fallen
    known2 = two.fallen
  }
  return { list, round }
}

export function isOver({ armies }: War): boolean {
  return armies.some(({ alive, nest }) => alive === 0 && nest.health === 0)
}

export function reportOf(war: War, casualties: Casualties[], heroes: Hero[]): Report {
  return {
    winner: winnerOf(war),
    endedBy: isOver(war) ? 'destruction' : 'rounds',
    rounds: war.round,
    army1: armyReport(war, 0),
    army2: armyReport(war, 1),
    casualties,
    heroes,
  }
}

function winnerOf(war: War): Report['winner'] {
  const [one, two] = war.armies
  const lead = isOver(war) ? one.alive - two.alive : two.fallen - one.fallen
  return lead > 0 ? 'army1' : lead < 0 ? 'army2' : 'draw'
}

function armyReport({ armies, health, kind }: War, index: 0 | 1): ArmyReport {
  const { first, size, alive, fallen, hatched, nest } = armies[index]
  const counts = new Array<number>(kinds.length).fill(0)
  for (let insect = first; insect < first + size; insect++) if (health[insect]! > 0) counts[kind[insect]!]!++
  return {
    insects: size,
    survivors: alive,
    fallen,
    hatched,
    nestPercent: Math.round((nest.health / nest.fullHealth) * 100),
    survivorsByKind: Object.fromEntries(kinds.map(({ name }, i) => [name, counts[i]!])),
  }
}
