/** Turns errors of SQLite and the file system into messages that name the file, the cause and the remedy. */
import { LedgerError } from '../../lib/errors.ts'
import { remedyFor, resultCode } from '../../lib/sqlite/errors.ts'

const locked =
  'another running Plimsoll uses the same data directory or ledger file. Stop that one, or give this one a ' +
  'data directory of its own (--data)'

/** `culprit` is the file that caused the error, if it is not the ledger itself. */
export function explainError(error: unknown, file: string, culprit = file): LedgerError {
  if (error instanceof LedgerError) return error
  const { message } = error as { message?: string }
  const inUse = resultCode(error) === 5 && culprit !== file ? locked : undefined
  const explanation =
    inUse ?? remedyFor(error) ?? 'the file cannot be used. Move it away, or choose another file'
  const about = culprit === file || inUse ? '' : `its lock file ${culprit}: `
  return new LedgerError(`ledger ${file}: ${about}${explanation} (${message})`)
}
