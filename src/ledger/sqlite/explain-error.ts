/** Turns errors of SQLite and the file system into messages that name the file, the cause and the remedy. */
import { LedgerError } from '../../lib/errors.ts'

/** By SQLite's primary result code. */
const byResult: Readonly<Record<number, string>> = {
  5: 'another process is writing to the file, for example a database browser. End its transaction, or close it',
  8: 'the file is read-only. Give this user write permission for the file and its folder',
  10: 'a disk operation failed. Check the disk and its free space',
  11: 'the file is damaged. Move it and its -wal file away, or restore a backup',
  13: 'the disk is full. Free some space',
  14: 'the file cannot be opened or created. Check the path and the write permission of this user',
  26: 'the file is not an SQLite database. Move it away, or choose another file',
}

const bySystemCode: Readonly<Record<string, string>> = {
  EACCES: 'permission denied. Give this user permission for its folder, or choose another file',
  EPERM: 'permission denied. Give this user permission for its folder, or choose another file',
  EROFS: 'the file system is read-only. Choose a file elsewhere',
  ENOSPC: 'the disk is full. Free some space',
  EEXIST: 'its folder cannot be created, because a file has the same name. Move that file, or choose another',
  ENOTDIR:
    'its folder cannot be created, because a file has the same name. Move that file, or choose another',
}

const locked =
  'another running Plimsoll uses the same data directory or ledger file. Stop that one, or give this one a ' +
  'data directory of its own (--data)'

/** `culprit` is the file that caused the error, if it is not the ledger itself. */
export function explainError(error: unknown, file: string, culprit = file): LedgerError {
  if (error instanceof LedgerError) return error
  const { errcode, code, message } = error as { errcode?: number; code?: string; message?: string }
  const result = (errcode ?? 0) & 0xff
  const inUse = result === 5 && culprit !== file ? locked : undefined
  const explanation =
    inUse ??
    byResult[result] ??
    bySystemCode[code ?? ''] ??
    'the file cannot be used. Move it away, or choose another file'
  const about = culprit === file || inUse ? '' : `its lock file ${culprit}: `
  return new LedgerError(`ledger ${file}: ${about}${explanation} (${message})`)
}
