/** A program in a slot or an upstream, to which a job's request is sent. */
import type { Address } from './address.ts'
import type { Connections } from './connections.ts'
import type { CpuAccount } from './cpu-account.ts'
import type { Exit } from './process-group.ts'

export interface RequestTarget {
  /** For messages, for instance "the program of slot 3". */
  readonly name: string
  readonly address: Address
  readonly connections: Connections
  readonly pid: number | undefined
  /** Maximum memory of a job since it was sent here, as far as it is known. */
  peakMb(): number
  /** Counts the CPU time of a job that has the target to itself. */
  account(): CpuAccount | undefined
  /** Time that its threads spent on a core or in the queue for one. Undefined: unknown. */
  demandMs(): number | undefined
  /** True: a thread of it could run now. */
  isRunnable(): boolean
  /** Whether it is exiting, so that data from its connections may be truncated. */
  isEnding(): boolean
  /** How it ended, if it has just ended. */
  exit(): Promise<Exit | undefined>
}
