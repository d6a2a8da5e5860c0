/**
 * Runs the command line with a compile cache, which halves its start-up time. Not TypeScript, because Node would load the
 * type stripper for it each time, before it can look into the cache.
 */

import { constants, enableCompileCache } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(fileURLToPath(import.meta.resolve('plimsoll/package.json')))
const packages = basename(dirname(root)) === 'node_modules' ? dirname(root) : join(root, 'node_modules')
const { status } = enableCompileCache(join(packages, '.cache', 'plimsoll'))
// A package that belongs to another user cannot have a cache beside it: Node then uses the temporary folder.
if (status === constants.compileCacheStatus.FAILED) enableCompileCache()

await import('./main.ts')
