/** The options of a command: read, checked and explained from one description. */

import { parseArgs } from 'node:util'
import { ConfigError } from '../lib/errors.ts'

/** One option. What it is is told by its default; a flag's default is false. */
export interface OptionSpec {
  help: string
  default: string | number | boolean | undefined
  /** Shown in place of the value: `--log FILE`. */
  value?: string
  /** Bounds of a number. */
  min?: number
  max?: number
  /** True: whole numbers only. */
  whole?: boolean
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

export type OptionValues<S extends OptionSpecs> = {
  [K in keyof S]: S[K]['default'] extends number
    ? number
    : S[K]['default'] extends boolean
      ? boolean
      : S[K]['default'] extends string
        ? string
        : string | undefined
}

/** A command of the program. */
export interface Command {
  summary: string
  usage: string
  options: OptionSpecs
  run(args: string[]): Promise<number> | number
}

/** What a file says in place of what the command line does not: by names as specs have them, and what they are called there. */
export interface FromFile {
  file: string
  values: Readonly<Record<string, { name: string; value: unknown }>>
}

export function readOptions<S extends OptionSpecs>(
  args: string[],
  specs: S,
  from?: FromFile,
): { values: OptionValues<S>; rest: string[] } {
  const known = Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [
      name,
      { type: spec.default === false ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({ args, options: known, allowPositionals: true, strict: true })
  } catch (error) {
    const names = Object.keys(specs).map((name) => `--${name}`)
    throw new ConfigError(
      `${(error as Error).message.split('. To specify')[0]}. There are: ${names.join(' ')}`,
    )
  }
  const values: Record<string, unknown> = {}
  for (const [name, spec] of Object.entries(specs)) {
    const given = parsed.values[name]
    const filed = from?.values[name]
    if (given !== undefined) {
      values[name] = typeof spec.default === 'number' ? readNumber(`--${name}`, String(given), spec) : given
    } else if (from && filed) values[name] = readFiled(`${from.file}: ${filed.name}`, filed.value, spec)
    else values[name] = spec.default
  }
  return { values: values as OptionValues<S>, rest: parsed.positionals }
}

function readFiled(name: string, value: unknown, spec: OptionSpec): unknown {
  const wrong = (must: string) => new ConfigError(`${name} = ${JSON.stringify(value)}: must be ${must}`)
  if (typeof spec.default === 'number') {
    return readNumber(name, typeof value === 'number' ? String(value) : `${JSON.stringify(value)}`, spec)
  }
  if (typeof spec.default === 'boolean') {
    if (typeof value !== 'boolean') throw wrong('true or false')
    return value
  }
  if (typeof value !== 'string' && typeof value !== 'number') throw wrong('a text')
  return String(value)
}

function readNumber(
  name: string,
  text: string,
  { min = -Infinity, max = Infinity, whole }: OptionSpec,
): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (value >= min && value <= max && (!whole || Number.isInteger(value))) return value
  const kind = whole ? 'a whole number' : 'a number'
  const bounds = max < Infinity ? `from ${min} to ${max}` : min > -Infinity ? `${min} or more` : ''
  throw new ConfigError(`${name} = ${text}: must be ${kind} ${bounds}`.trimEnd())
}

/** The help page of a command. */
export function helpPage(name: string, command: Command): string {
  const rows = Object.entries(command.options).map(([option, spec]) => {
    const value =
      spec.default === false ? '' : ` ${spec.value ?? (typeof spec.default === 'number' ? 'N' : 'NAME')}`
    const shown = spec.default === false || spec.default === undefined ? '' : ` (default ${spec.default})`
    return [`--${option}${value}`, `${spec.help}${shown}`] as const
  })
  const width = Math.max(...rows.map(([option]) => option.length))
  const lines = rows.map(([option, help]) => `  ${option.padEnd(width)}  ${help}`)
  return `${command.summary}\n\nUsage: plimsoll ${name} ${command.usage}\n\n${lines.join('\n')}\n`
}
