/** Moves a damaged ledger out of the way, so that a new one can be begun. Nothing is ever deleted. */
import { existsSync, realpathSync, renameSync } from 'node:fs'
import { basename } from 'node:path'

const malformed = 11
export const notADatabase = 26
/** The file ends within a page. */
const shortRead = 522

/** SQLite says that what is in the file is not, or no longer, a database. */
export function isDamage(error: unknown): boolean {
  const errcode = (error as { errcode?: number } | null)?.errcode ?? 0
  return errcode === shortRead || (errcode & 0xff) === malformed || (errcode & 0xff) === notADatabase
}

/** A file of any other name was named by its owner, and may be something else: it stays where it is. */
export function isOurs(file: string): boolean {
  return basename(file) === 'ledger.db'
}

/** Only for who holds the lock, and has the file closed. Returns words for what was done. */
export function setAside(file: string, error: unknown): string {
  const path = realpathSync(file)
  const time = new Date().toISOString().replaceAll(/[-:]|\..*/g, '')
  let aside = `${path}.damaged-${time}`
  for (let next = 2; existsSync(aside); next++) aside = `${path}.damaged-${time}-${next}`
  // The log belongs to the file: whoever wants to mend one needs both. It goes first, lest a new file meet it.
  for (const part of ['-shm', '-wal', '']) {
    if (existsSync(`${path}${part}`)) renameSync(`${path}${part}`, `${aside}${part}`)
  }
  return (
    `ledger ${file}: it is damaged (${(error as Error).message}). It is now ${aside}, and a new one is begun: ` +
    'costs are learned anew. Restore a copy while Plimsoll is stopped, or delete it'
  )
}
