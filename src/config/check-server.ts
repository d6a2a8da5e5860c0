/** Checks what a configuration says of programs: those that Plimsoll starts, and those that run already. */

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from '../lib/errors.ts'
import type { OwnServer } from './config.ts'
import { fieldsOf, numberOf, wrong } from './refuse.ts'
import { splitWords } from './words.ts'

/** With everything filled in. */
export interface CheckedServer extends OwnServer {
  /** In words. */
  command: string[]
  concurrency: number
  /** An absolute path. */
  cwd: string
  env: Record<string, string>
  startMs: number
  healthEveryMs: number
}

const allowed = ['command', 'health', 'concurrency', 'cwd', 'env', 'startMs', 'healthEveryMs']
const anHour = 3_600_000

/** `folder` is where relative paths begin. */
export function checkServer(given: unknown, folder: string): CheckedServer {
  const fields = fieldsOf('workers', given, allowed)
  const health = checkHealthPath('workers.health', fields.health)
  return {
    command: commandOf(fields.command),
    ...(health !== undefined && { health }),
    concurrency: checkConcurrency('workers.concurrency', fields.concurrency),
    cwd: folderOf(fields.cwd, folder),
    env: envOf(fields.env),
    startMs: numberOf('workers.startMs', fields.startMs, 30_000, { min: 1, max: anHour }),
    healthEveryMs: numberOf('workers.healthEveryMs', fields.healthEveryMs, 5_000, { min: 10, max: anHour }),
  }
}

export function checkHealthPath(option: string, given: unknown): string | undefined {
  if (given === undefined || (typeof given === 'string' && /^\/[\x21-\x7e]*$/.test(given))) return given
  throw wrong(option, given, 'a path that begins with /, for example /health')
}

export function checkConcurrency(option: string, given: unknown): number {
  return numberOf(option, given, 1, { min: 1, max: 10_000, whole: true })
}

/** Origins of programs that run already. */
export function checkUpstreams(given: unknown): string[] {
  const must = 'addresses such as http://127.0.0.1:9000'
  if (!Array.isArray(given) || given.length === 0) throw wrong('upstreams', given, `a list of ${must}`)
  const origins = given.map((address: unknown, i) => {
    const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined
    if (url?.protocol !== 'http:' || url.href !== `${url.origin}/`) {
      throw wrong(`upstreams[${i}]`, address, 'an address such as http://127.0.0.1:9000, without a path')
    }
    return url.origin
  })
  const twice = origins.find((origin, i) => origins.indexOf(origin) !== i)
  if (twice !== undefined) throw wrong('upstreams', twice, 'given once')
  return origins
}

function commandOf(given: unknown): string[] {
  const words = typeof given === 'string' ? splitWords('workers.command', given) : given
  const isWord = (word: unknown) => typeof word === 'string' && !word.includes('\0')
  if (!Array.isArray(words) || words.length === 0 || !words.every(isWord) || words[0] === '') {
    throw wrong('workers.command', given, "a command such as 'python3 app.py --port {port}', or its words")
  }
  const has = (place: string) => words.some((word: string) => word.includes(place))
  if (has('{port}') === has('{socket}')) {
    throw wrong('workers.command', given, 'one that says where to listen: with {port} or with {socket} in it')
  }
  return words as string[]
}

function envOf(given: unknown): Record<string, string> {
  if (given === undefined) return {}
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw wrong('workers.env', given, 'an object of names and texts')
  }
  for (const [name, value] of Object.entries(given)) {
    if (name === '' || name.includes('=')) throw wrong('workers.env', name, 'names without =')
    if (typeof value !== 'string') throw wrong(`workers.env.${name}`, value, 'a text')
  }
  return given as Record<string, string>
}

function folderOf(given: unknown, folder: string): string {
  if (given !== undefined && typeof given !== 'string') throw wrong('workers.cwd', given, 'a folder')
  const path = resolve(folder, given ?? '.')
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  throw new ConfigError(`workers.cwd = ${given}: there is no such folder`)
}
