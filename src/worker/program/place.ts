/** Where a job's request is sent: a program in a slot, or an upstream. */
import type { Address } from './address.ts'
import type { CpuAccount } from './cpu-account.ts'
import type { Exit } from './process-group.ts'

export interface Place {
  /** As in "the program of slot 3". */
  readonly name: string
  readonly address: Address
  readonly pid: number | undefined
  /** The most memory that a job had since it came, as far as that can be told. */
  peakMb(): number
  /** Counts the CPU time of a job that has the place to itself. */
  account(): CpuAccount | undefined
  /** True at the moment of its end: what its connections bring now may be cut short. */
  isEnding(): boolean
  /** How it ended, if it has just done so. */
  fate(): Promise<Exit | undefined>
}
