/** What every store of durable jobs promises. */
import { boundedMemoryContract, contentsContract } from './contents-contract.ts'
import { durabilityContract } from './durability-contract.ts'
import { jobsContract } from './jobs-contract.ts'
import { keysContract } from './keys-contract.ts'
import { leaderContract } from './leader-contract.ts'
import { pagesContract } from './pages-contract.ts'
import { limitedJobsContract, retentionContract } from './retention-contract.ts'
import type { MakeSubject } from './samples.ts'

export interface ContractOptions {
  /** False: the number and space of jobs that have ended are not limited. Default: true. */
  limitsEnded?: boolean
}

export function storeContract(
  name: string,
  make: MakeSubject,
  { limitsEnded = true }: ContractOptions = {},
): void {
  jobsContract(name, make)
  keysContract(name, make)
  pagesContract(name, make)
  leaderContract(name, make)
  retentionContract(name, make)
  if (limitsEnded) limitedJobsContract(name, make)
  contentsContract(name, make)
}

/** For stores that keep their jobs outside of the process. */
export function durableStoreContract(name: string, make: MakeSubject, options?: ContractOptions): void {
  storeContract(name, make, options)
  boundedMemoryContract(name, make)
  durabilityContract(name, make)
}
