/** The third-party packages that are run both ways, and what it takes to say so. */
import { compilers } from './compilers.ts'
import { computations } from './computations.ts'
import { documents } from './documents.ts'

export interface Suite {
  readonly name: string
  /** Metered: the package and those that it needs. */
  readonly packages: string[]
  /** Few enough lines to be run in every mode, and as a part of the tests. */
  readonly small?: boolean
  /** Hands over all that comes out, under names that tell the cases apart. */
  run(out: (what: string, value: unknown) => void): Promise<void>
}

export const suites: readonly Suite[] = [...compilers, ...documents, ...computations]
