/** Reads options from the command line and, where it gives none, from the configuration file. */

import { relative } from 'node:path'
import type { CheckedConfig } from '../../config/check.ts'
import { findConfig, loadConfig } from '../../config/load.ts'
import { flagOf, type OptionSpecs, type OptionValues } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import { isGiven, readOptions } from '../options.ts'
import type { configOption } from './config-option.ts'

export interface Configured<S extends OptionSpecs> {
  values: OptionValues<S>
  rest: string[]
  /** Undefined: no configuration file. */
  config?: CheckedConfig & { file: string }
}

/** Flags override the configuration file. */
export async function readConfigured<S extends OptionSpecs & typeof configOption>(
  args: string[],
  specs: S,
  say: (line: string) => void,
): Promise<Configured<S>> {
  const { values, rest } = readOptions(args, specs)
  const given = values.config as string | undefined
  const file = given ?? findConfig(process.cwd())
  if (file === undefined) return { values, rest }
  const shown = given ?? relative(process.cwd(), file)
  if (given === undefined) say(`Using ${shown}.`)
  const config = await loadConfig(shown)
  if (config.own) rejectFlags(args, config.own.workers ? 'workers' : 'upstreams', shown)
  const read = readOptions(args, specs, { file: shown, values: config.options })
  return { ...read, config: { ...config, file } }
}

function rejectFlags(args: readonly string[], server: 'workers' | 'upstreams', file: string): void {
  for (const key of ['workloads', 'meter', 'formula', ...(server === 'upstreams' ? ['min', 'max'] : [])]) {
    if (isGiven(args, key))
      throw new ConfigError(`${flagOf(key)}: cannot be combined with ${server} in ${file}`)
  }
}
