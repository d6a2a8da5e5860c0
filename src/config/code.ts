/** Names the version of what serves requests, so that what was learned of one is not believed of another. */

import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { OwnCluster } from './check.ts'
import type { ServerSettings } from './server-settings.ts'

/** A larger file counts by its size: a program may carry its data with it. */
const longestFile = 64 * 1024 * 1024

/**
 * What a cluster and its workers must agree on. The words of the command count, and what the files contain that they
 * name relative to its folder: the same program gives the same hash wherever it lies. Of upstreams nothing is known.
 */
export function serverCode(settings: ServerSettings): { server: string } {
  const program =
    'command' in settings ? settings.command.map((word) => wordAndFile(word, settings.cwd)) : 'upstream'
  return { server: sha256([program, settings.concurrency]) }
}

/** By route: its costs also depend on what is looked at. */
export function routeCode({ routes }: Pick<OwnCluster, 'routes'>, server: string): Record<string, string> {
  return Object.fromEntries(routes.map(({ name, text }) => [name, sha256([server, text])]))
}

function sha256(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}

function wordAndFile(word: string, folder: string): string[] {
  if (isAbsolute(word)) return [word]
  const path = resolve(folder, word)
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isFile()) return [word]
  if (found.size > longestFile) return [word, `${found.size}`]
  return [word, createHash('sha256').update(readFileSync(path)).digest('hex')]
}
