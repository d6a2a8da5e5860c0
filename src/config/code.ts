/** Hashes of what serves requests, so that costs learned of one version are not used for another. */

import { createHash } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { originalPath } from '../lib/kept-path.ts'
import type { OwnCluster } from './check.ts'
import type { CheckedServer } from './check-server.ts'
import { keptFile, longestFile, serverFiles } from './server-files.ts'
import type { ServerSettings } from './server-settings.ts'

/**
 * What a cluster and its workers must agree on: the arguments of the command, and the content of files that they name
 * relative to its folder. The same program has the same hash in any folder. Nothing is known of upstreams.
 */
export function serverCode(settings: ServerSettings): { server: string } {
  if (!('command' in settings)) return { server: sha256(['upstream', settings.concurrency]) }
  const { command, cwd, kept, concurrency } = settings
  const words = command.map((word) => wordAndFile(word, realpathSync(cwd), kept))
  return { server: sha256([words, concurrency, ...moreFiles(settings)]) }
}

/** By route, because costs also depend on its features. */
export function routeCode({ routes }: Pick<OwnCluster, 'routes'>, server: string): Record<string, string> {
  return Object.fromEntries(routes.map(({ name, text }) => [name, sha256([server, text])]))
}

function sha256(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}

/** The files that only `workers.files` names. */
function moreFiles({ files, kept, ...server }: CheckedServer): unknown[] {
  if (!files) return []
  const cwd = realpathSync(server.cwd)
  // What a pattern matches is read from the copy as well.
  const found = serverFiles({ ...server, cwd: join(kept ?? '/', cwd), files })
    .map(originalPath)
    .sort()
  const paths = found.filter((path) => kept === undefined || keptFile(path, kept) !== path)
  return [paths.map((path) => [relative(cwd, path), contentOf(keptFile(path, kept))])]
}

function wordAndFile(word: string, folder: string, kept: string | undefined): string[] {
  if (isAbsolute(word)) return [word]
  const path = keptFile(resolve(folder, word), kept)
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return [word]
  return [word, contentOf(path)]
}

function contentOf(path: string): string {
  const { size } = statSync(path)
  if (size > longestFile) return `${size}`
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
