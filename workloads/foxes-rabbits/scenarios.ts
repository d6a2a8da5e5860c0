/** Scenarios: the initial population and the rules. */

export interface Scenario {
  /** Initial shares of land cells with a rabbit, and with a fox. */
  readonly rabbits: number
  readonly foxes: number
  /** Generations until eaten grass is edible again. */
  readonly regrowth: number
  readonly rabbit: Diet
  readonly fox: Diet
}

/** A generation costs one unit of energy; at 0 an animal dies. */
export interface Diet {
  /** Energy from one meal: grass for a rabbit, a rabbit for a fox. */
  readonly meal: number
  /** Energy from which an animal reproduces when it moves; parent and offspring get half each. */
  readonly breedsAt: number
}

/** Balance, plenty and drought. */
export const scenarios = {
  1: {
    rabbits: 0.2,
    foxes: 0.02,
    regrowth: 20,
    rabbit: { meal: 4, breedsAt: 16 },
    fox: { meal: 10, breedsAt: 50 },
  },
  2: {
    rabbits: 0.3,
    foxes: 0.005,
    regrowth: 6,
    rabbit: { meal: 4, breedsAt: 12 },
    fox: { meal: 8, breedsAt: 40 },
  },
  3: {
    rabbits: 0.1,
    foxes: 0.01,
    regrowth: 40,
    rabbit: { meal: 6, breedsAt: 20 },
    fox: { meal: 16, breedsAt: 60 },
  },
} as const satisfies Record<number, Scenario>

export type ScenarioNumber = keyof typeof scenarios
