/** Collects writes that arrive together into statements of many rows, so that they share one wait for the disk. */
import type { StoreError } from '../lib/errors.ts'

/** A write of one row. */
export interface Row {
  epoch: number
  /** Rows with a name in common are written one after another: in one statement, or in two at once, they would collide. */
  names: readonly string[]
  /** What it adds to the length of the statement. */
  bytes: number
}

/** Writes rows of one epoch in one transaction, and resolves with their outcomes. */
export type WriteRows<R extends Row, Outcome> = (
  epoch: number,
  rows: readonly R[],
) => Promise<readonly (Outcome | StoreError)[]>

/** Rows of one kind, which share a statement. */
type Lane = WriteRows<Row, unknown>

interface Waiting {
  row: Row
  lane: Lane
  resolve(outcome: unknown): void
  reject(error: Error): void
}

export interface BatchLimits {
  /** Statements at a time. */
  statements: number
  /** Of one statement. */
  rows: number
  bytes: number
}

/** What a database means by its errors. */
export interface DatabaseErrors {
  explain(error: unknown): Error
  /** One of the values is to blame, so that other rows may succeed without it. */
  isWrongValue(error: unknown): boolean
}

export class Batches {
  readonly #limits: BatchLimits
  readonly #errors: DatabaseErrors
  readonly #writing = new Set<string>()
  #queue: Waiting[] = []
  #running = 0
  #isScheduled = false
  #idle: PromiseWithResolvers<void> | undefined

  constructor(limits: BatchLimits, errors: DatabaseErrors) {
    this.#limits = limits
    this.#errors = errors
  }

  /** A kind of rows, which `write` writes in one statement. */
  lane<R extends Row, Outcome>(write: WriteRows<R, Outcome>): (row: R) => Promise<Outcome> {
    // A row only comes back to the lane that took it.
    const lane: Lane = (epoch, rows) => write(epoch, rows as readonly R[])
    return (row) =>
      new Promise((resolve, reject) => {
        this.#queue.push({ row, lane, resolve: (outcome) => resolve(outcome as Outcome), reject })
        this.#schedule()
      })
  }

  /** Resolves when no write waits or runs. */
  async idle(): Promise<void> {
    if (this.#running === 0 && this.#queue.length === 0) return
    this.#idle ??= Promise.withResolvers()
    await this.#idle.promise
  }

  /** The promises that just resolved may write again, so the batch is collected when they have. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      while (this.#running < this.#limits.statements) {
        const batch = this.#take()
        if (batch.length === 0) break
        void this.#run(batch)
      }
      if (this.#running === 0 && this.#queue.length === 0) {
        this.#idle?.resolve()
        this.#idle = undefined
      }
    })
  }

  /** The first row that can be written, and all that fit to it. */
  #take(): Waiting[] {
    const batch: Waiting[] = []
    const left: Waiting[] = []
    let bytes = 0
    for (const each of this.#queue) {
      const { row, lane } = each
      const first = batch[0]
      const fits =
        first === undefined ||
        (lane === first.lane &&
          row.epoch === first.row.epoch &&
          batch.length < this.#limits.rows &&
          bytes + row.bytes <= this.#limits.bytes)
      if (!fits || row.names.some((name) => this.#writing.has(name))) {
        left.push(each)
        continue
      }
      for (const name of row.names) this.#writing.add(name)
      bytes += row.bytes
      batch.push(each)
    }
    if (batch.length > 0) this.#queue = left
    return batch
  }

  async #run(batch: Waiting[]): Promise<void> {
    this.#running++
    try {
      await this.#write(batch)
    } finally {
      this.#running--
      for (const { row } of batch) for (const name of row.names) this.#writing.delete(name)
      this.#schedule()
    }
  }

  /** A row that the server rejects must not fail the others: then each of them is written alone. */
  async #write(batch: Waiting[]): Promise<void> {
    const { lane, row } = batch[0]!
    try {
      const outcomes = await lane(
        row.epoch,
        batch.map((each) => each.row),
      )
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[index]
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
    } catch (error) {
      if (batch.length > 1 && this.#errors.isWrongValue(error))
        for (const each of batch) await this.#write([each])
      else for (const { reject } of batch) reject(this.#errors.explain(error))
    }
  }
}
