/** The files that make up one version of an existing server's program. */

import { globSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { ConfigError } from '../lib/errors.ts'
import type { CheckedServer } from './check-server.ts'

/** Larger files count by their size: a program may contain its data. */
export const longestFile = 64 * 1024 * 1024

type Described = Pick<CheckedServer, 'command' | 'cwd' | 'files'>

/** Files that its command names, and those of `workers.files`. Absolute, each once, in a stable order. */
export function serverFiles({ command, cwd, files = [] }: Described): string[] {
  return [...new Set([...commandFiles(command, cwd), ...files.flatMap((text) => listed(text, cwd))])].sort()
}

/** Where a file of the program is read: in the copy that is kept aside, if it is there. */
export function keptFile(path: string, kept: string | undefined): string {
  const copy = kept === undefined ? undefined : join(kept, path)
  // A link leads to a file that is not part of the copy.
  return copy !== undefined && lstatSync(copy, { throwIfNoEntry: false })?.isFile() ? copy : path
}

/** The interpreter is named by a path too, but is not part of the program. */
function commandFiles(command: readonly string[], cwd: string): string[] {
  return command
    .filter((word, i) => word !== '' && !(i === 0 && isAbsolute(word)))
    .flatMap((word) => [word, ...moduleFiles(word)])
    .map((word) => resolve(cwd, word))
    .filter((path) => isFile(path) && statSync(path).size <= longestFile)
}

/** Python servers name an application by its module: `gunicorn app:app`, `uvicorn site.main:create`. */
function moduleFiles(word: string): string[] {
  const [, name] = /^([a-z_][\w.]*):[a-z_][\w.]*(?:\(.*\))?$/i.exec(word) ?? []
  const path = name?.replaceAll('.', '/')
  return path === undefined ? [] : [`${path}.py`, `${path}/__init__.py`]
}

function listed(text: string, cwd: string): string[] {
  const path = resolve(cwd, text)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFile()) return [path]
  if (found?.isDirectory()) return filesIn(realpathSync(path))
  const matched = globSync(text, { cwd, exclude: (name) => isExcluded(name) }).map((each) =>
    resolve(cwd, each),
  )
  if (matched.length === 0)
    throw new ConfigError(`workers.files = ${text}: no such file or folder in ${cwd}, and no file matches it`)
  return matched.filter(isFile)
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (isExcluded(entry.name)) return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesIn(path) : entry.isFile() ? [path] : []
  })
}

/** Packages are pinned by their lock file; hidden folders hold tools, environments and data. */
function isExcluded(name: string): boolean {
  return name === 'node_modules' || name === '__pycache__' || name.startsWith('.')
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
