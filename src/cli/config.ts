/** The options that a configuration gives in place of the command line. */

import { relative } from 'node:path'
import { type CheckedConfig, upOptions } from '../config/check.ts'
import { findConfig, loadConfig } from '../config/load.ts'
import { ConfigError } from '../lib/errors.ts'
import { type FromFile, type OptionSpecs, type OptionValues, readOptions } from './options.ts'

export const configOption = {
  config: {
    help: 'a configuration: .ts, .js, .mjs, .json or .yaml; default: plimsoll.config.* in this folder, if there is one',
    default: undefined,
    value: 'FILE',
  },
} as const

export interface Configured<S extends OptionSpecs> {
  values: OptionValues<S>
  rest: string[]
  /** Undefined: there is none. */
  config?: CheckedConfig & { file: string }
}

/** Reads options with what the configuration says of those that are not given. */
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
  const own = config.own?.workers ? 'workers' : 'upstreams'
  for (const option of ['workloads', 'meter', 'formula', ...(own === 'upstreams' ? ['min', 'max'] : [])]) {
    const flag = args.some((arg) => arg === `--${option}` || arg.startsWith(`--${option}=`))
    if (config.own && flag) throw new ConfigError(`--${option}: does not go with ${own} in ${shown}`)
  }
  const read = readOptions(args, specs, fromFile(shown, config))
  return { ...read, config: { ...config, file } }
}

function fromFile(file: string, { options }: CheckedConfig): FromFile {
  const given = upOptions.filter((name) => options[name] !== undefined)
  const values = given.map((name) => [flagOf(name), { name, value: options[name] }] as const)
  return { file, values: Object.fromEntries(values) }
}

/** adminPort is --admin-port. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
