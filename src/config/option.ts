/**
 * One option, described once. Its flag, its key in the configuration file, its type, its check and its help are all
 * derived from this description.
 */

import { boundsText, checkBoolean, checkNumber, invalid, isWithin } from '../lib/checks.ts'
import { ConfigError } from '../lib/errors.ts'

interface Described {
  help: string
  /** The heading of the help page that lists it. Default: none. */
  topic?: string
  /** Shown in place of the value in help: `--log FILE`. */
  value?: string
}

interface NumberOption extends Described {
  type: 'number' | 'integer'
  default?: number
  min?: number
  max?: number
}

interface TextOption extends Described {
  type: 'text'
  default?: string
  choices?: readonly string[]
  /** The configuration file may also hold a number. */
  numeric?: true
  /** A path, or a comma-separated list of paths, relative to the configuration's folder. */
  path?: 'one' | 'list'
}

interface FlagOption extends Described {
  type: 'flag'
}

export type OptionSpec = NumberOption | TextOption | FlagOption

/** By key: camelCase in configuration files, `--kebab-case` on the command line. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>

/** Lists options under a heading of the help page. */
export function under<const S extends OptionSpecs>(topic: string, specs: S): S {
  const listed = Object.entries(specs).map(([key, spec]) => [key, { topic, ...spec }])
  return Object.fromEntries(listed) as S
}

type ValueOf<S extends OptionSpec> = S extends { type: 'flag' }
  ? boolean
  : S extends { type: 'text' }
    ? S extends { default: string }
      ? string
      : string | undefined
    : S extends { default: number }
      ? number
      : number | undefined

/** What a command gets after defaults have been filled in. */
export type OptionValues<S extends OptionSpecs> = { -readonly [K in keyof S]: ValueOf<S[K]> }

/** What a configuration file may hold. */
export type ConfigValues<S extends OptionSpecs> = {
  -readonly [K in keyof S]?: S[K] extends { numeric: true } ? string | number : NonNullable<ValueOf<S[K]>>
}

export function defaultOf(spec: OptionSpec): string | number | boolean | undefined {
  return spec.type === 'flag' ? false : spec.default
}

export function defaultsOf<S extends OptionSpecs>(specs: S): OptionValues<S> {
  const values = Object.entries(specs).map(([key, spec]) => [key, defaultOf(spec)])
  return Object.fromEntries(values) as OptionValues<S>
}

/** `adminPort` is `--admin-port`. */
export function flagOf(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Reads a value from the command line. */
export function parseOption(key: string, text: string, spec: OptionSpec): string | number {
  const flag = flagOf(key)
  if (spec.type === 'number' || spec.type === 'integer') {
    const value = text.trim() === '' ? Number.NaN : Number(text)
    const bounds = boundsOf(spec)
    if (isWithin(value, bounds)) return value
    throw new ConfigError(`${flag} = ${text}: must be ${boundsText(bounds)}`)
  }
  if (spec.type === 'text' && spec.choices && !spec.choices.includes(text))
    throw new ConfigError(`${flag} = ${text}: must be one of ${spec.choices.join(', ')}`)
  return text
}

/** Checks a value of the configuration file; `name` says where it stands. */
export function checkOption(name: string, value: unknown, spec: OptionSpec): string | number | boolean {
  if (spec.type === 'flag') return checkBoolean(name, value)
  if (spec.type !== 'text') return checkNumber(name, value, boundsOf(spec))
  const text = spec.numeric && typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') throw invalid(name, value, spec.numeric ? 'a string or a number' : 'a string')
  if (spec.choices && !spec.choices.includes(text))
    throw invalid(name, value, `one of ${spec.choices.join(', ')}`)
  return text
}

function boundsOf({ type, min, max }: NumberOption) {
  return {
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(type === 'integer' && { integer: true }),
  }
}
