/** The state of a visit: the region that counts the current code, and the statements that a jump may leave. */

import type { Tally } from '../model/metrics.ts'
import { block, branch } from './syntax-costs.ts'

/** Code that always runs together. */
export interface Region {
  readonly tally: Tally
  /** None: the region is counted with another one. */
  form: 'cell' | 'local' | 'none'
  /** Index of the function's cell. */
  readonly cell: number
}

/** A statement that a `break` or `continue` can refer to. */
export interface Target {
  readonly labels: readonly string[]
  readonly loop: boolean
  readonly switched: boolean
  readonly local: boolean
  /** For a counted loop: code to run before leaving it, and the label of its exit. */
  readonly leaving?: (position: number, itself: boolean) => string
  readonly exit?: string
  /** The block of a `try` with a `catch`. */
  readonly catches?: boolean
}

export interface State {
  readonly region: Region
  /** Inside a nest of loops that counts in a local variable. */
  readonly local: boolean
  readonly targets: readonly Target[]
  /** Labels of the statement to visit next. */
  readonly labels: readonly string[]
}

/** A new region, for code that is left or entered apart from what precedes it. */
export function regionIn({ local, region }: State): Region {
  return { tally: { ...block }, form: local ? 'local' : 'cell', cell: region.cell }
}

/** A new region, for code that runs conditionally. */
export function branchIn(state: State): Region {
  return { ...regionIn(state), tally: { ...branch } }
}

/** The same state for code that is counted elsewhere. */
export function silent(state: State): State {
  return { ...state, region: { tally: {}, form: 'none', cell: state.region.cell } }
}

/** The state inside a statement other than a loop. */
export function within(state: State, target: Partial<Target>): State {
  const { local } = state
  const inner = { labels: [], loop: false, switched: false, local, ...target }
  return { ...state, targets: [...state.targets, inner] }
}
