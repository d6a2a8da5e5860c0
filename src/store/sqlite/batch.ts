/** Performs the calls that arrived together: all writes are one transaction, so that they share its wait for the disk. */
import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../../lib/errors.ts'
import { diskFailed, resultCode } from '../../lib/sqlite/errors.ts'
import { fenced } from '../rows.ts'
import type { Call, Read, Write } from './calls.ts'
import type { JobsFile } from './file.ts'
import { prepareReads, type Reads } from './reads.ts'
import { prepareWrites } from './writes.ts'

export type Outcome = { value: unknown } | { error: unknown }

export interface Batches {
  perform(calls: readonly Call[]): Outcome[]
}

const writing: ReadonlySet<Call['kind']> = new Set<Write['kind']>([
  ...(['accept', 'end', 'started', 'webhook', 'lead', 'renew', 'release', 'remove'] as const),
])
const isWrite = (call: Call): call is Write => writing.has(call.kind)

interface Hooks {
  /** Files that no row names any more. */
  onRemoved(files: string[]): void
  /** Errors of the database. */
  onFailure(error: unknown): void
}

export function batches(file: JobsFile, store: string, hooks: Hooks): Batches {
  const transaction = transactions(file, store, hooks)
  const answer = reader(prepareReads(file.db))

  /** A write that fails must not fail the others: then each of them is tried in a transaction of its own. */
  function writeAll(calls: readonly Write[]): Outcome[] {
    try {
      return transaction(calls)
    } catch (error) {
      // After a failure of the disk, whether the transaction was written is unknown.
      if (calls.length > 1 && resultCode(error) !== diskFailed)
        return calls.flatMap((call) => writeAll([call]))
      hooks.onFailure(error)
      return calls.map(() => ({ error }))
    }
  }

  function read(call: Read): Outcome {
    try {
      return { value: answer(call) }
    } catch (error) {
      hooks.onFailure(error)
      return { error }
    }
  }

  return {
    perform(calls) {
      const written = calls.filter(isWrite)
      const outcomes = written.length > 0 ? writeAll(written) : []
      let next = 0
      // Reads come after the writes, so that they never show what is not durable.
      return calls.map((call) => (isWrite(call) ? outcomes[next++]! : read(call)))
    },
  }
}

/** Performs writes durably, or throws an error of the database: then nothing was written. */
function transactions({ db, checkIdentity }: JobsFile, store: string, hooks: Hooks) {
  const writes = prepareWrites(db, store)

  function write(call: Write, files: string[]): unknown {
    if (call.kind === 'lead') return writes.lead(call, Date.now())
    if (call.kind === 'renew') return writes.renew(call, Date.now())
    if (call.kind === 'release') return writes.release(call)
    const current = writes.epoch()
    if (call.epoch !== current) throw fenced(store, call.epoch, current)
    if (call.kind === 'accept') return writes.accept(call)
    if (call.kind === 'end') return writes.end(call)
    if (call.kind === 'started') return writes.noteStarted(call)
    if (call.kind === 'webhook') return writes.noteWebhook(call)
    const { result, files: removed } = writes.remove(call)
    files.push(...removed)
    return result
  }

  return (calls: readonly Write[]): Outcome[] => {
    const files: string[] = []
    db.exec('BEGIN IMMEDIATE')
    try {
      const outcomes = calls.map((call): Outcome => {
        try {
          return { value: write(call, files) }
        } catch (error) {
          if (error instanceof StoreError) return { error }
          throw error
        }
      })
      db.exec('COMMIT')
      checkIdentity()
      hooks.onRemoved(files)
      return outcomes
    } catch (error) {
      rollBack(db)
      throw error
    }
  }
}

function reader(reads: Reads) {
  return (call: Read): unknown => {
    if (call.kind === 'job') return reads.job(call.id)
    if (call.kind === 'by-key') return reads.byKey(call.client, call.key)
    if (call.kind === 'body') return reads.body(call.id)
    if (call.kind === 'result') return reads.result(call.id)
    if (call.kind === 'list') return reads.list(call)
    if (call.kind === 'open') return reads.open(call.after)
    if (call.kind === 'webhooks') return reads.webhooks(call.limit)
    if (call.kind === 'disabled') return reads.disabled(call.now)
    if (call.kind === 'oldest-to-remove') return reads.oldestToRemove(call)
  }
}

function rollBack(db: DatabaseSync): void {
  try {
    if (db.isTransaction) db.exec('ROLLBACK')
  } catch {
    // The caller reports the first failure.
  }
}
