/** Renames a damaged ledger, so that a new one can be created. Nothing is ever deleted. */
import { existsSync, realpathSync, renameSync } from 'node:fs'
import { basename } from 'node:path'

/** Only a file with the default name may be renamed: any other file may not be a ledger at all. */
export function hasDefaultName(file: string): boolean {
  return basename(file) === 'ledger.db'
}

/** The caller must hold the lock and must have closed the file. Returns a message for the operator. */
export function quarantine(file: string, error: unknown): string {
  const path = realpathSync(file)
  const time = new Date().toISOString().replaceAll(/[-:]|\..*/g, '')
  let renamed = `${path}.damaged-${time}`
  for (let next = 2; existsSync(renamed); next++) renamed = `${path}.damaged-${time}-${next}`
  // Repairing the file requires its log. The log is renamed first, so that it never applies to a new file.
  for (const part of ['-shm', '-wal', '']) {
    if (existsSync(`${path}${part}`)) renameSync(`${path}${part}`, `${renamed}${part}`)
  }
  return (
    `ledger ${file}: the file is damaged (${(error as Error).message}). It was renamed to ${renamed} and a new ` +
    'ledger was created, so costs are learned again. Stop Plimsoll before you restore a backup'
  )
}
