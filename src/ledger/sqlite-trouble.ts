/** Puts what SQLite or the file system says into words: which file, what is wrong, and what to do. */
import { LedgerError } from '../lib/errors.ts'

/** By SQLite's primary result code. */
const byResult: Readonly<Record<number, string>> = {
  5: 'another process is writing to it, for example a database browser. End its transaction, or close it',
  8: 'it may not be written. Give this user permission for the file and its folder',
  10: 'the disk failed. Check the disk and its free space',
  11: 'it is damaged. Move it and its -wal file away, or restore a copy',
  13: 'the disk is full. Free some space',
  14: 'it cannot be opened or created. Check that the path is right and this user may write there',
  26: 'it is not a ledger, nor any SQLite database. Move it away, or name another file',
}

const bySystemCode: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied. Give this user permission for its folder, or name another file',
  EPERM: 'permission is denied. Give this user permission for its folder, or name another file',
  EROFS: 'its file system is read-only. Name a file elsewhere',
  ENOSPC: 'the disk is full. Free some space',
  EEXIST: 'its folder cannot be made, because a file is in its place. Move that file, or name another',
  ENOTDIR: 'its folder cannot be made, because a file is in its place. Move that file, or name another',
}

const held =
  'another running Plimsoll holds it, on this data directory or by this file name. Stop that one, or give ' +
  'this one a data directory of its own'

/** `culprit` is the file that the error is about, where it is not the ledger itself. */
export function explain(error: unknown, file: string, culprit = file): LedgerError {
  if (error instanceof LedgerError) return error
  const { errcode, code, message } = error as { errcode?: number; code?: string; message?: string }
  const result = (errcode ?? 0) & 0xff
  const inUse = result === 5 && culprit !== file ? held : undefined
  const words =
    inUse ??
    byResult[result] ??
    bySystemCode[code ?? ''] ??
    'it cannot be used. Move it away, or name another file'
  const about = culprit === file || inUse ? '' : `its lock file ${culprit}: `
  return new LedgerError(`ledger ${file}: ${about}${words} (${message})`)
}
