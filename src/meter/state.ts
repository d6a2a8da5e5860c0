/** Where a visit is in a program: what counts the code at hand, and what a jump would leave. */

import type { Tally } from '../model/metrics.ts'
import { block } from './costs.ts'

/** Code that always runs together. */
export interface Region {
  readonly tally: Tally
  /** None: others count it. */
  form: 'cell' | 'local' | 'none'
  /** The cell of its function. */
  readonly cell: number
}

/** A statement that `break` or `continue` can mean. */
export interface Target {
  readonly labels: readonly string[]
  readonly loop: boolean
  readonly switched: boolean
  readonly local: boolean
  /** For a counted loop: what must be done before leaving it, and its own exit. */
  readonly leaving?: (position: number, itself: boolean) => string
  readonly exit?: string
  /** A block whose exceptions are caught. */
  readonly catches?: boolean
}

export interface State {
  readonly region: Region
  /** Inside a nest of loops that counts in a local. */
  readonly local: boolean
  readonly targets: readonly Target[]
  /** Labels of the statement that is about to be visited. */
  readonly labels: readonly string[]
}

/** A region of its own, for code that runs only sometimes. */
export function regionIn({ local, region }: State): Region {
  return { tally: { ...block }, form: local ? 'local' : 'cell', cell: region.cell }
}

/** The same place, but what is there is counted elsewhere. */
export function silent(state: State): State {
  return { ...state, region: { tally: {}, form: 'none', cell: state.region.cell } }
}

/** Inside a statement that is no loop. */
export function within(state: State, target: Partial<Target>): State {
  const { local } = state
  const inner = { labels: [], loop: false, switched: false, local, ...target }
  return { ...state, targets: [...state.targets, inner] }
}
