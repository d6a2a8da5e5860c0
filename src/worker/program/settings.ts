/** What a worker must know of the user's server: a program that it starts, or one that runs already. */
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { ConfigError } from '../../errors.ts'
import type { Measure } from '../../wire/messages.ts'
import { placeIn, splitWords } from './command.ts'

interface HealthSettings {
  /** A path that answers 2xx or 3xx; without one it is enough that a connection can be opened. */
  health?: string
  /** Jobs that one program takes at a time. */
  concurrency: number
  /** Healthy within. */
  startMs: number
  /** How often it is looked at while it is idle. */
  healthEveryMs: number
}

export interface ProgramSettings extends HealthSettings {
  command: string[]
  cwd?: string
  env?: Record<string, string>
}

export interface UpstreamSettings extends HealthSettings {
  upstream: string
}

export type ServerSettings = ProgramSettings | UpstreamSettings

export const serverDefaults = { concurrency: 1, startMs: 30_000, healthEveryMs: 5_000 } as const

const allowed = ['command', 'upstream', 'health', 'concurrency', 'cwd', 'env', 'startMs', 'healthEveryMs']

/** Checks what was given and fills in defaults. `option` is how the user knows it, for messages. */
export function checkServer(given: unknown, option: string): ServerSettings {
  const wrong = (name: string, value: unknown, must: string) =>
    new ConfigError(`${option}: ${name} = ${JSON.stringify(value)}: must be ${must}`)
  if (!isRecord(given)) throw new ConfigError(`${option} = ${JSON.stringify(given)}: must be an object`)
  const unknown = Object.keys(given).find((name) => !allowed.includes(name))
  if (unknown)
    throw new ConfigError(`${option}: unknown option ${unknown}; options are ${allowed.join(', ')}`)
  const { health, concurrency, startMs, healthEveryMs } = { ...serverDefaults, ...given } as Record<
    string,
    unknown
  >
  if (health !== undefined && !(typeof health === 'string' && /^\/[!-~]*$/.test(health))) {
    throw wrong('health', health, 'a path such as /health')
  }
  if (
    !(isNumber(concurrency) && Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 10_000)
  ) {
    throw wrong('concurrency', concurrency, 'a whole number from 1 to 10000')
  }
  for (const [name, value] of Object.entries({ startMs, healthEveryMs })) {
    // More would overflow a timer.
    if (!(isNumber(value) && value > 0 && value < 2 ** 31)) {
      throw wrong(name, value, 'a number of milliseconds, above 0 and below 2^31')
    }
  }
  const shared = { concurrency, startMs, healthEveryMs, ...(health !== undefined && { health }) } as const
  if (given.upstream !== undefined) {
    if (given.command !== undefined)
      throw new ConfigError(`${option}: has both command and upstream: give one`)
    return { upstream: checkUpstream(given.upstream, wrong), ...shared } as UpstreamSettings
  }
  return { ...checkProgram(given, wrong), ...shared } as ProgramSettings
}

type Wrong = (name: string, value: unknown, must: string) => ConfigError

function checkUpstream(given: unknown, wrong: Wrong): string {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined
  const isOrigin = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === ''
  if (!isOrigin || url.username !== '' || url.hash !== '') {
    throw wrong('upstream', given, 'an address without a path, such as http://127.0.0.1:9000')
  }
  return url.origin
}

function checkProgram({ command, cwd, env }: Record<string, unknown>, wrong: Wrong) {
  const words = typeof command === 'string' ? splitWords(command) : command
  const isWords = Array.isArray(words) && words.every((word) => typeof word === 'string' && !/\0/.test(word))
  if (!isWords || !words[0]) {
    throw wrong('command', command, "a program and its arguments, such as 'python3 app.py --port {port}'")
  }
  const has = (name: string) => words.some((word) => word.includes(name))
  if (placeIn(words) === 'socket' && has('{port}')) {
    throw wrong('command', command, 'told {port} or {socket}, not both')
  }
  if (
    cwd !== undefined &&
    !(typeof cwd === 'string' && statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
  ) {
    throw wrong('cwd', cwd, 'a folder that exists')
  }
  if (
    env !== undefined &&
    !(isRecord(env) && Object.values(env).every((value) => typeof value === 'string'))
  ) {
    throw wrong('env', env, 'an object of strings')
  }
  return { command: words as string[], ...(cwd !== undefined && { cwd }), ...(env !== undefined && { env }) }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

/** How work is measured where the program does not say it itself: CPU time is one job's own only if it is alone. */
export function measureOf(settings: ServerSettings): Measure {
  return 'command' in settings && settings.concurrency === 1 ? 'cpu' : 'time'
}

/** Stands for all routes: a cluster and its workers must agree on it. Work is comparable only between equals. */
export const serverCodeName = 'server'

export function serverCode(settings: ServerSettings): Record<string, string> {
  // Upstreams differ in their addresses and are the same program.
  const what = 'command' in settings ? settings.command : 'upstream'
  const text = JSON.stringify([what, measureOf(settings), settings.concurrency])
  return { [serverCodeName]: createHash('sha256').update(text).digest('hex') }
}
