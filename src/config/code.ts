/** Hashes of what serves requests, so that costs learned of one version are not used for another. */

import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { OwnCluster } from './check.ts'
import type { ServerSettings } from './server-settings.ts'

/** Larger files count by their size: a program may contain its data. */
const longestFile = 64 * 1024 * 1024

/**
 * What a cluster and its workers must agree on: the arguments of the command, and the content of files that they name
 * relative to its folder. The same program has the same hash in any folder. Nothing is known of upstreams.
 */
export function serverCode(settings: ServerSettings): { server: string } {
  const program =
    'command' in settings ? settings.command.map((word) => wordAndFile(word, settings.cwd)) : 'upstream'
  return { server: sha256([program, settings.concurrency]) }
}

/** By route, because costs also depend on its features. */
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
