/** Reads the options of a command and prints its help page, both from one table. */

import { parseArgs } from 'node:util'
import {
  checkOption,
  defaultOf,
  flagOf,
  type OptionSpec,
  type OptionSpecs,
  type OptionValues,
  parseOption,
} from '../config/option.ts'
import { didYouMean } from '../lib/did-you-mean.ts'
import { ConfigError, UnknownOption } from '../lib/errors.ts'
import { terminalWidth, wrapWords } from './terminal/width.ts'

/** A command of the program. */
export interface Command {
  summary: string
  usage: string
  options: OptionSpecs
  run(args: string[]): Promise<number> | number
}

/** Values of a configuration file, used where the command line gives none. */
export interface FromFile {
  file: string
  values: Readonly<Record<string, unknown>>
}

export function readOptions<S extends OptionSpecs>(
  args: string[],
  specs: S,
  from?: FromFile,
): { values: OptionValues<S>; rest: string[] } {
  const { values: given, positionals } = parse(args, specs)
  const values: Record<string, unknown> = {}
  for (const [key, spec] of Object.entries(specs)) {
    const text = given[flagOf(key).slice(2)]
    const filed = from?.values[key]
    if (typeof text === 'string') values[key] = parseOption(key, text, spec)
    else if (text !== undefined) values[key] = text
    else if (from && filed !== undefined) values[key] = checkOption(`${from.file}: ${key}`, filed, spec)
    else values[key] = defaultOf(spec)
  }
  return { values: values as OptionValues<S>, rest: positionals }
}

/** Like `readOptions`, for commands that take no arguments besides options. */
export function readOnlyOptions<S extends OptionSpecs>(
  command: string,
  args: string[],
  specs: S,
): OptionValues<S> {
  const { values, rest } = readOptions(args, specs)
  rejectRest(command, rest)
  return values
}

export function rejectRest(command: string, rest: readonly string[]): void {
  if (rest.length > 0) throw new ConfigError(`${command}: unexpected ${rest.join(' ')}`)
}

/** True: the option is on the command line, whatever its value. */
export function isGiven(args: readonly string[], key: string): boolean {
  const flag = flagOf(key)
  return args.some((arg) => arg === flag || arg.startsWith(`${flag}=`))
}

function parse(args: string[], specs: OptionSpecs) {
  const known = Object.entries(specs).map(([key, spec]) => [
    flagOf(key).slice(2),
    { type: spec.type === 'flag' ? ('boolean' as const) : ('string' as const) },
  ])
  try {
    return parseArgs({
      args,
      options: Object.fromEntries(known) as Record<string, { type: 'boolean' | 'string' }>,
      allowPositionals: true,
      strict: true,
    })
  } catch (error) {
    const [problem = ''] = (error as Error).message.split('. To specify')
    const flags = Object.keys(specs).map(flagOf)
    const [, unknown] = /^Unknown option '(-[^']*)'/.exec(problem) ?? []
    if (unknown === '--token' && 'tokenFile' in specs)
      throw new ConfigError(
        '--token: other users can see arguments of processes; write the token to a file and give --token-file FILE, or set the environment variable that --help names',
      )
    const [, flag] = /^Option '(?:-\w, )?(--[^' ]*)/.exec(problem) ?? []
    if (flag !== undefined) throw new ConfigError(`${flag}: ${valueProblem(flag, problem)}`)
    if (unknown === undefined) throw new ConfigError(problem)
    throw new UnknownOption(`Unknown option '${unknown}'${didYouMean(unknown, flags)}`)
  }
}

function valueProblem(flag: string, problem: string): string {
  if (/does not take an argument/.test(problem)) return 'takes no value'
  if (!/is ambiguous/.test(problem)) return 'requires a value'
  return `requires a value; one that begins with a dash is written as ${flag}=-1`
}

const mostWidth = 100
/** Longer flags have their help on the next line. */
const maxFlagWidth = 30

/** The help page of a command: options by topic, no line longer than 100 columns or than the terminal is wide. */
export function helpPage(name: string, command: Command, terminal = terminalWidth()): string {
  const pageWidth = Math.max(2 * maxFlagWidth, Math.min(mostWidth, terminal))
  const rows = Object.entries(command.options).map(([key, spec]) => ({
    topic: spec.topic ?? '',
    flag: `${flagOf(key)}${valueText(spec)}`,
    help: `${spec.help}${detailsText(spec)}`,
  }))
  const width = Math.min(maxFlagWidth, Math.max(...rows.map(({ flag }) => flag.length)))
  const topics = [...new Set(rows.map(({ topic }) => topic))]
  const sections = topics.map((topic) => {
    const lines = rows
      .filter((row) => row.topic === topic)
      .map(({ flag, help }) => row(flag, help, width, pageWidth))
    return `${topics.length > 1 || topic !== '' ? `${topic || 'Options'}:\n` : ''}${lines.join('\n')}`
  })
  return `${wrapWords(command.summary, pageWidth).join('\n')}\n\nUsage: plimsoll ${name} ${command.usage}\n\n${sections.join('\n\n')}\n`
}

function row(flag: string, help: string, width: number, pageWidth: number): string {
  const lines = wrapWords(help, pageWidth - width - 4)
  const indent = ' '.repeat(width + 4)
  if (flag.length > width) lines.unshift('')
  return `  ${flag.padEnd(width)}  ${lines.join(`\n${indent}`)}`.trimEnd()
}

function valueText(spec: OptionSpec): string {
  if (spec.type === 'flag') return ''
  if (spec.value !== undefined) return ` ${spec.value}`
  return spec.type === 'text' ? ' NAME' : ' N'
}

function detailsText(spec: OptionSpec): string {
  // An option that shows a value of its own explains its choices itself.
  const choices = spec.type === 'text' && spec.value === undefined ? spec.choices : undefined
  const listed = choices ? `: ${choices.join(', ')}` : ''
  const value = defaultOf(spec)
  return value === undefined || value === false || value === ''
    ? listed
    : `${listed} (default ${typeof value === 'number' ? plainNumber(value) : value})`
}

/** Without an exponent. */
function plainNumber(value: number): string {
  return value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 12 })
}
