/**
 * From where a program starts: from its own folder, or, once its files are edited, from the copy that the cluster keeps
 * of the version that it runs.
 */

import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { keptFile } from '../../config/server-files.ts'
import type { ProgramSettings } from './settings.ts'

export function startingPoint({
  command,
  cwd,
  kept,
}: Pick<ProgramSettings, 'command' | 'cwd' | 'kept'>): Pick<ProgramSettings, 'command' | 'cwd'> {
  if (kept === undefined || !isEdited(kept)) return { command, cwd }
  return {
    command: command.map((word) => (isAbsolute(word) ? keptFile(word, kept) : word)),
    cwd: join(kept, realpathSync(cwd)),
  }
}

/** True: a file of the copy differs from its original. */
function isEdited(kept: string): boolean {
  const differs = (folder: string): boolean =>
    readdirSync(join(kept, folder), { withFileTypes: true }).some((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return differs(path)
      // Links lead to originals.
      return entry.isFile() && !isSame(join(kept, path), path)
    })
  return differs('/')
}

function isSame(copy: string, original: string): boolean {
  try {
    return readFileSync(copy).equals(readFileSync(original))
  } catch {
    return false
  }
}
