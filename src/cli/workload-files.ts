/** Which modules hold the workloads. */

import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError } from '../lib/errors.ts'

/** The workloads that come with the program. */
export const bundledWorkloads = fileURLToPath(new URL('../../workloads', import.meta.url))

/** Files, and folders whose modules (not their tests) are meant, separated by commas. */
export function workloadFiles(list: string): string[] {
  const files = list.split(',').flatMap((name) => {
    const path = resolve(name)
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found) throw new ConfigError(`--workloads = ${name}: there is no such file or folder`)
    if (!found.isDirectory()) return [path]
    return readdirSync(path)
      .filter((file) => /\.(ts|mts|js|mjs)$/.test(file) && !/\.(test|d)\.[a-z]+$/.test(file))
      .sort()
      .map((file) => join(path, file))
  })
  if (files.length === 0) throw new ConfigError(`--workloads = ${list}: holds no modules`)
  return files
}

/** What whoever joins a cluster serves: the same as the others. */
export const servedOptions = {
  workloads: {
    help: 'modules or folders with workloads, separated by commas; default: those that come along',
    default: undefined,
    value: 'PATHS',
  },
  config: {
    help: 'a configuration of an own server, in place of workloads; nothing else of it counts',
    default: undefined,
    value: 'FILE',
  },
} as const
