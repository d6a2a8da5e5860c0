/** Files and folders that only their owner may read: they hold tokens, parameters of requests and code. */

import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Permissions of the group and of all others. */
const others = 0o077
export const privateFile = 0o600
export const privateFolder = 0o700

/**
 * Creates a folder for its owner alone. If it exists and others have access, takes that access away, from everything in it
 * too, and logs it.
 */
export function makePrivateFolder(path: string, log: (line: string) => void = () => {}): void {
  mkdirSync(path, { recursive: true, mode: privateFolder })
  const { mode, uid } = statSync(path)
  if ((mode & others) === 0) return
  const was = `folder ${path}: others had access to it (mode ${octal(mode)})`
  try {
    chmodSync(path, mode & privateFolder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return log(`${was} and still have: it belongs to user ${uid}, and its mode cannot be changed (${code})`)
  }
  const count = takeAway(path)
  log(`${was}; now only its owner has${count > 0 ? `, also to ${count} of its files and folders` : ''}`)
}

/** Creates a file for its owner alone, or takes the access of others away. Errors are left to the caller's next use of it. */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'a', privateFile))
    const { mode } = statSync(path)
    if ((mode & others) !== 0) chmodSync(path, mode & ~others & 0o777)
  } catch {}
}

/** Of everything in a folder, without following links. Returns the number of changes. */
function takeAway(folder: string): number {
  let count = 0
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    try {
      const found = lstatSync(path)
      if (found.isSymbolicLink()) continue
      if ((found.mode & others) !== 0) {
        chmodSync(path, found.mode & ~others & 0o777)
        count++
      }
      if (found.isDirectory()) count += takeAway(path)
    } catch {
      // It has just been removed, or belongs to another user; the folder above protects it.
    }
  }
  return count
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0')
}
