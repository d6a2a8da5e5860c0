/** A pool of programs for one test, which is closed when the test ends. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { HttpHead, HttpRequest } from '../../../wire/messages.ts'
import type { JobRequest, JobRun } from '../../job-run.ts'
import { ProgramPool, type ProgramPoolOptions } from '../program-pool.ts'
import type { ProgramSettings } from '../settings.ts'

export const fixture = (name: string) => join(import.meta.dirname, '../fixtures', name)
export const serverCommand = [process.execPath, fixture('server.mjs'), '--port', '{port}']
/** The command of a program that consists of a script. */
export const oneLiner = (script: string) => [process.execPath, '-e', script]
export const serverDefaults = {
  concurrency: 1,
  cwd: import.meta.dirname,
  env: {},
  startMs: 120_000,
  healthEveryMs: 5_000,
}
export const hasPython = spawnSync('python3', ['-c', '']).status === 0

export interface RequestParts extends Partial<HttpRequest> {
  body?: Readable
  trailers?: () => string[]
  repeatable?: boolean
}

export interface Answer {
  kind: string
  message?: string
  head?: HttpHead
  body?: string
  trailers?: string[]
}

export interface TestPrograms {
  pool: ProgramPool
  lines: string[]
  start(target: string, request?: RequestParts): JobRun
  ask(target: string, request?: RequestParts): Promise<Answer>
}

let jobs = 0

export function jobOf(
  target: string,
  { body, trailers, repeatable = true, ...http }: RequestParts = {},
): JobRequest {
  return {
    job: `job-${++jobs}`,
    attempt: 1,
    workload: 'server',
    params: null,
    repeatable,
    http: { method: 'GET', target, headers: ['Host', 'example.test'], ...http },
    ...(body && { body }),
    ...(trailers && { trailers }),
  }
}

export async function usePrograms(
  t: { after(end: () => Promise<void>): void },
  settings: Partial<ProgramSettings> = {},
  options: Partial<ProgramPoolOptions> = {},
): Promise<TestPrograms> {
  const lines: string[] = []
  const pool = new ProgramPool({
    server: { ...serverDefaults, command: serverCommand, ...settings },
    warm: 1,
    slots: 4,
    memoryMb: 512,
    log: (line) => lines.push(line),
    ...options,
  })
  t.after(() => pool.close())
  await pool.ready()
  const start = (target: string, request?: RequestParts) => pool.start(jobOf(target, request))
  return { pool, lines, start, ask: (target, request) => read(start(target, request)) }
}

/** The answer of a job, with its body as text. */
export async function read(run: JobRun): Promise<Answer> {
  const answer = await run.answer
  if (answer.kind !== 'http') return answer as Answer
  const body = await text(answer.body)
  return { kind: answer.kind, head: answer.head, body, trailers: answer.trailers() }
}
