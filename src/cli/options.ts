/** The options of a command: read, checked and explained from one description. */

import { parseArgs } from 'node:util'
import { ConfigError } from '../errors.ts'

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

export function readOptions<S extends OptionSpecs>(
  args: string[],
  specs: S,
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
    if (given === undefined) values[name] = spec.default
    else if (typeof spec.default === 'number') values[name] = readNumber(name, String(given), spec)
    else values[name] = given
  }
  return { values: values as OptionValues<S>, rest: parsed.positionals }
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
  throw new ConfigError(`--${name} = ${text}: must be ${kind} ${bounds}`.trimEnd())
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
