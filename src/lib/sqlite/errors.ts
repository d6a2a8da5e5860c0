/** Errors of SQLite and of the file system, in words: the cause and the remedy. */

/** Result codes of SQLite. */
export const malformed = 11
/** Reading, writing or syncing failed. */
export const diskFailed = 10
export const notADatabase = 26
/** The file ends within a page. */
const shortRead = 522

/** The primary result code, or 0 if the error is not one of SQLite's. */
export function resultCode(error: unknown): number {
  return ((error as { errcode?: number } | null)?.errcode ?? 0) & 0xff
}

/** Whether SQLite reports that the file is not, or no longer, a database. */
export function isDamage(error: unknown): boolean {
  const result = resultCode(error)
  return (
    (error as { errcode?: number } | null)?.errcode === shortRead ||
    [malformed, notADatabase].includes(result)
  )
}

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
  EDQUOT: 'the disk quota of this user is used up. Free some space',
  EEXIST: 'its folder cannot be created, because a file has the same name. Move that file, or choose another',
  ENOTDIR:
    'its folder cannot be created, because a file has the same name. Move that file, or choose another',
}

/** Undefined: neither SQLite nor the file system reported the error, or its code is not listed here. */
export function remedyFor(error: unknown): string | undefined {
  return byResult[resultCode(error)] ?? bySystemCode[(error as { code?: string } | null)?.code ?? '']
}
