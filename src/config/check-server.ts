/** Checks the servers of a configuration: programs that Plimsoll starts, and upstreams that run already. */

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { checkFields } from '../lib/check-fields.ts'
import { checkNumber, invalid } from '../lib/checks.ts'
import { ConfigError } from '../lib/errors.ts'
import type { OwnServer } from './config.ts'
import { splitWords } from './words.ts'

/** With all defaults filled in. */
export interface CheckedServer extends OwnServer {
  /** One string per argument. */
  command: string[]
  concurrency: number
  /** Absolute. */
  cwd: string
  env: Record<string, string>
  /** The folder in which the cluster keeps a copy of its files. */
  kept?: string
  startMs: number
  healthEveryMs: number
}

const allowed = ['command', 'health', 'concurrency', 'cwd', 'files', 'env', 'startMs', 'healthEveryMs']
const anHour = 3_600_000

/** Relative paths start at `folder`. */
export function checkServer(given: unknown, folder: string): CheckedServer {
  const fields = checkFields('workers', given, allowed)
  const health = checkHealthPath('workers.health', fields.health)
  return {
    command: commandOf(fields.command),
    ...(health !== undefined && { health }),
    concurrency: checkConcurrency('workers.concurrency', fields.concurrency),
    cwd: folderOf(fields.cwd, folder),
    ...(fields.files !== undefined && { files: filesOf(fields.files) }),
    env: envOf(fields.env),
    startMs: checkNumber('workers.startMs', fields.startMs ?? 30_000, { min: 1, max: anHour }),
    healthEveryMs: checkNumber('workers.healthEveryMs', fields.healthEveryMs ?? 5_000, {
      min: 10,
      max: anHour,
    }),
  }
}

export function checkHealthPath(option: string, given: unknown): string | undefined {
  if (given === undefined || (typeof given === 'string' && /^\/[\x21-\x7e]*$/.test(given))) return given
  throw invalid(option, given, 'a path that starts with /, for example /health')
}

export function checkConcurrency(option: string, given: unknown): number {
  return checkNumber(option, given ?? 1, { min: 1, max: 10_000, integer: true })
}

export function checkUpstreams(given: unknown): string[] {
  const must = 'addresses such as http://127.0.0.1:9000'
  if (!Array.isArray(given) || given.length === 0) throw invalid('upstreams', given, `a list of ${must}`)
  const origins = given.map((address: unknown, i) => {
    const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined
    if (url?.protocol !== 'http:' || url.href !== `${url.origin}/`) {
      throw invalid(`upstreams[${i}]`, address, 'an address such as http://127.0.0.1:9000, without a path')
    }
    return url.origin
  })
  const twice = origins.find((origin, i) => origins.indexOf(origin) !== i)
  if (twice !== undefined) throw invalid('upstreams', twice, 'listed once')
  return origins
}

function commandOf(given: unknown): string[] {
  const words = typeof given === 'string' ? splitWords('workers.command', given) : given
  const isArgument = (word: unknown) => typeof word === 'string' && !word.includes('\0')
  if (!Array.isArray(words) || words.length === 0 || !words.every(isArgument) || words[0] === '') {
    throw invalid(
      'workers.command',
      given,
      "a command such as 'python3 app.py --port {port}', or a list of its arguments",
    )
  }
  const has = (text: string) => words.some((word: string) => word.includes(text))
  // Without either, the program listens on the port that the variable PORT names.
  if (has('{port}') && has('{socket}')) {
    throw invalid('workers.command', given, 'a command that does not contain both {port} and {socket}')
  }
  return words as string[]
}

function filesOf(given: unknown): string[] {
  const isPath = (path: unknown) => typeof path === 'string' && path !== '' && !path.includes('\0')
  if (Array.isArray(given) && given.length > 0 && given.every(isPath)) return given as string[]
  throw invalid(
    'workers.files',
    given,
    "a list of files, folders and patterns such as ['app.py', 'lib/**/*.py']",
  )
}

function envOf(given: unknown): Record<string, string> {
  if (given === undefined) return {}
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid('workers.env', given, 'an object of strings')
  }
  for (const [name, value] of Object.entries(given)) {
    if (name === '' || name.includes('=') || name.includes('\0'))
      throw invalid('workers.env', name, 'names without = and NUL')
    if (typeof value !== 'string' || value.includes('\0'))
      throw invalid(`workers.env.${name}`, value, 'a string without NUL')
  }
  return given as Record<string, string>
}

function folderOf(given: unknown, folder: string): string {
  if (given !== undefined && (typeof given !== 'string' || given.includes('\0')))
    throw invalid('workers.cwd', given, 'the path of a folder')
  const path = resolve(folder, given ?? '.')
  let isFolder: boolean | undefined
  try {
    isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError(`workers.cwd = ${given}: cannot be read (${code})`, { cause: error })
  }
  if (isFolder) return path
  throw new ConfigError(`workers.cwd = ${given}: no such folder`)
}
