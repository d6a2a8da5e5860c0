/** What a published system's tables in DynamoDB are made from, and what they do. */
import type { Dynamo } from '../aws/dynamo/dynamo.ts'
import type { WriteQueue } from '../aws/dynamo/write-queue.ts'
import type { Ledger } from '../ledger/ledger.ts'

export interface TableParts {
  dynamo: Dynamo
  /** What the names of tables begin with. */
  prefix: string
  /** Everything is stored here as well. */
  ledger: Ledger
  queue: WriteQueue
  log(line: string): void
}

/** Outstanding work of workers. */
export interface Instances {
  /** An attempt with this estimated work was sent to a worker. */
  began(worker: string, attempt: string, work: number): void
  /** It has done this much of its estimated work. */
  progressed(worker: string, attempt: string, done: number, estimate: number): void
  ended(worker: string, attempt: string): void
  gone(worker: string): void
}

/** What a system does in place of the ledger, or beside it. */
export interface SystemTables {
  ledger: Partial<Ledger>
  instances?: Instances
}
