/** Turns errors of SQLite and the file system into messages that name the store, the cause and the remedy. */
import { StoreError } from '../../lib/errors.ts'
import { diskFailed, isDamage, remedyFor, resultCode } from '../../lib/sqlite/errors.ts'

const damaged =
  'its file jobs.db is damaged. It holds accepted jobs, so it is neither replaced nor changed. Restore a backup, or ' +
  'recover what can be read with `sqlite3 jobs.db .recover`. To give up all of its jobs, move the folder away'

export const inUse =
  'another running Plimsoll uses this folder. Stop that one, or give this one a data directory of its own (--data)'

export function explainError(error: unknown, store: string, about?: string): StoreError {
  if (error instanceof StoreError) return error
  const { message } = error as { message?: string }
  const why = about ?? (isDamage(error) ? damaged : remedyFor(error)) ?? 'its files cannot be used'
  const code = resultCode(error) === diskFailed ? 'STORE_UNKNOWN' : 'STORE'
  return new StoreError(`${store}: ${why} (${message})`, code)
}
