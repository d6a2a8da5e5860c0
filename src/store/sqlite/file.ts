/** Opens, locks and closes the files of the store. Used only in the store's thread. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  realpathSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../../lib/errors.ts'
import { makePrivateFile, makePrivateFolder } from '../../lib/private-files.ts'
import { isDamage, malformed, notADatabase } from '../../lib/sqlite/errors.ts'
import type { ThreadData } from './calls.ts'
import { explainError, inUse } from './explain-error.ts'
import { migrate } from './schema.ts'

const smallFile = 16 * 1024 * 1024

export const contentsFolder = (folder: string) => join(folder, 'contents')

export interface JobsFile {
  db: DatabaseSync
  /** Throws if the file was removed or replaced meanwhile: writes to a deleted file succeed, and are lost. */
  checkIdentity(): void
  /** Merges the log into the file and closes it. */
  close(): void
}

/**
 * Only one process may use the folder. The lock is a transaction on a separate empty file: the operating system releases
 * it when the process ends, and other programs can still read the jobs.
 */
export function lockFolder({ folder, store, busyMs }: ThreadData): DatabaseSync {
  makePrivateFolder(folder)
  makePrivateFolder(contentsFolder(folder))
  const lockFile = join(folder, 'jobs.db-lock')
  makePrivateFile(lockFile)
  const lock = new DatabaseSync(lockFile, { timeout: busyMs })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    throw explainError(error, store, inUse)
  }
}

/** Throws, and leaves everything as it is, if the file is damaged. The caller holds the lock. */
export function openFile({ folder, store, busyMs, first }: ThreadData): JobsFile {
  const file = join(folder, 'jobs.db')
  probe(file, busyMs)
  makePrivateFile(file)
  const db = new DatabaseSync(file, { timeout: busyMs })
  try {
    const isNew = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
    if (isNew) mustHaveNoContents(folder, store)
    migrate(db, store)
    if (first) {
      sweepContents(db, folder)
      // The lock proves that earlier leaders on these files have ended.
      db.exec("UPDATE leader SET until = 0, holder = ''")
    }
    for (const path of [folder, dirname(folder)]) syncFolder(path)
    return { db, checkIdentity: identityOf(file, store), close: () => db.close() }
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Throws SQLite's error if the file is damaged. Opens it read-only, because closing a writable file changes it. Reads every
 * page of a small file; of a large one only its schema, and damage elsewhere is reported when it is read.
 */
function probe(file: string, busyMs: number): void {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (bytes === 0) return
  // SQLite treats a file that is too short as a new one, and would overwrite it.
  if (bytes < 512) throw Object.assign(new Error(`only ${bytes} bytes`), { errcode: notADatabase })
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: busyMs })
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    if (bytes > smallFile) return
    const found = db.prepare('PRAGMA quick_check(1)').get()?.quick_check
    if (found !== 'ok') throw Object.assign(new Error(String(found)), { errcode: malformed })
  } catch (error) {
    if (isDamage(error)) throw error
  } finally {
    db?.close()
  }
}

function mustHaveNoContents(folder: string, store: string): void {
  const contents = contentsFolder(folder)
  const count = readdirSync(contents).length
  if (count === 0) return
  throw new StoreError(
    `${store}: its file jobs.db is missing or empty, but ${contents} has ${count} files of accepted jobs. ` +
      'Restore jobs.db. To give up these jobs, move the folder away',
  )
}

/** Removes files that no row names: their jobs were not accepted, or have been removed. */
function sweepContents(db: DatabaseSync, folder: string): void {
  const contents = contentsFolder(folder)
  const rows = db.prepare('SELECT file FROM contents WHERE file IS NOT NULL').all()
  const named = new Set(rows.map((row) => String(row.file)))
  for (const name of readdirSync(contents)) if (!named.has(name)) unlinkSync(join(contents, name))
}

function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function identityOf(file: string, store: string): () => void {
  const path = existsSync(file) ? realpathSync(file) : file
  const identity = () =>
    [path, `${path}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.ino ?? 'none').join()
  const opened = identity()
  return () => {
    if (identity() === opened) return
    throw new StoreError(
      `${store}: its file jobs.db or jobs.db-wal was removed or replaced while it was in use. ` +
        'Put it back and restart Plimsoll. Stop Plimsoll before you move its files',
    )
  }
}
