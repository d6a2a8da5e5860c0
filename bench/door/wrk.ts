/** wrk as the load generator, with its exact figures. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { end, launch } from '../own/started.ts'

export interface Load {
  connections: number
  /** Header lines of each request besides `Host`. */
  headers: readonly string[]
  seconds: number
  /** JSON to post. Undefined: GET. */
  body?: string | undefined
}

export interface LoadFigures {
  requests: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

/** An answer was wrong or missing: the figures of this run say nothing. */
export class InvalidRun extends Error {
  readonly code = 'INVALID_RUN'
}

interface Printed {
  requests: number
  bytes: number
  us: number
  p50Us: number
  p99Us: number
  /** Answers with a status above 399. */
  statuses: number
  connect: number
  read: number
  write: number
  timeout: number
}

const script = join(import.meta.dirname, 'wrk.lua')

export function hasWrk(): boolean {
  return spawnSync('wrk', ['-v'], { stdio: 'ignore' }).error === undefined
}

/** Throws InvalidRun after any error, and if answers are shorter than `leastBytes` on average. */
export async function runWrk(
  url: string,
  { connections, headers, seconds, body }: Load,
  leastBytes: number,
  signal?: AbortSignal,
): Promise<LoadFigures> {
  const lines = headers.flatMap((line) => ['-H', line])
  const amount = ['-t', '1', '-c', `${connections}`, '-d', `${seconds}s`, '--timeout', '10s']
  const child = launch(['wrk', ...amount, '-s', script, ...lines, url], {
    ...process.env,
    ...(body !== undefined && { BENCH_BODY: body }),
  })
  const stop = () => void end(child)
  signal?.addEventListener('abort', stop, { once: true })
  let said = ''
  for (const output of [child.stdout!, child.stderr!]) output.on('data', (text) => (said += text))
  await once(child, 'close')
  signal?.removeEventListener('abort', stop)
  signal?.throwIfAborted()
  const line = said.split('\n').find((each) => each.startsWith('{'))
  if (line === undefined) throw new Error(`wrk failed:\n${said}`)
  const printed = JSON.parse(line) as Printed
  const problem = problemOf(printed, leastBytes)
  if (problem !== undefined) throw new InvalidRun(problem)
  const { requests, us, p50Us, p99Us } = printed
  return { requests, perSecond: (requests / us) * 1e6, p50Ms: p50Us / 1000, p99Ms: p99Us / 1000 }
}

function problemOf(printed: Printed, leastBytes: number): string | undefined {
  const { requests, bytes } = printed
  if (requests === 0) return 'no request was answered'
  const errors = (['statuses', 'connect', 'read', 'write', 'timeout'] as const)
    .filter((kind) => printed[kind] > 0)
    .map((kind) => `${printed[kind]} ${kind === 'statuses' ? 'wrong statuses' : `${kind} errors`}`)
  if (errors.length > 0) return `${errors.join(', ')} in ${requests} requests`
  return bytes / requests < leastBytes ? `${Math.round(bytes / requests)} bytes per answer` : undefined
}
