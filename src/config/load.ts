/** Finds and reads configurations: modules, JSON and YAML. */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defaultExport } from '../lib/default-export.ts'
import { ConfigError } from '../lib/errors.ts'
import { keptRoot, originalPath } from '../lib/kept-path.ts'
import { type CheckedConfig, checkConfig } from './check.ts'

const modules = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']
const ends = [...modules, '.json', '.yaml', '.yml']
const usual = ends.map((end) => `plimsoll.config${end}`)

/** The configuration file of a folder. Undefined: none. */
export function findConfig(folder: string): string | undefined {
  const [first, second] = usual.filter((name) => existsSync(join(folder, name)))
  if (second !== undefined) {
    throw new ConfigError(`${first} and ${second}: only one may exist; choose with --config`)
  }
  return first === undefined ? undefined : join(folder, first)
}

/** Rejects with a `ConfigError` that names the file. */
export async function loadConfig(file: string): Promise<CheckedConfig> {
  const path = resolve(file)
  if (!existsSync(path)) throw new ConfigError(`${file}: no such file`)
  try {
    // A copy that is kept aside means the folders of its original.
    const config = checkConfig(await read(path), dirname(originalPath(path)))
    const kept = keptRoot(path)
    return kept === undefined ? config : withKept(config, kept)
  } catch (error) {
    throw new ConfigError(
      `${originalPath(file)}: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    )
  }
}

/** The files of a server's program are kept in the same folder as its configuration. */
export function withKept(config: CheckedConfig, kept: string): CheckedConfig {
  const { own } = config
  return own?.workers ? { ...config, own: { ...own, workers: { ...own.workers, kept } } } : config
}

async function read(path: string): Promise<unknown> {
  const end = extname(path)
  if (modules.includes(end)) {
    const exported = defaultExport((await import(pathToFileURL(path).href)) as { default?: unknown })
    if (exported !== undefined) return exported
    throw new ConfigError(
      'has no default export; write: export default defineConfig({ … }), or in CommonJS: module.exports = { … }',
    )
  }
  if (end === '.json') return JSON.parse(readFileSync(path, 'utf8')) as unknown
  if (end === '.yaml' || end === '.yml') {
    const { readYaml } = await import('./yaml.ts')
    return readYaml(readFileSync(path, 'utf8'))
  }
  throw new ConfigError(`must end with one of ${ends.join(', ')}`)
}
