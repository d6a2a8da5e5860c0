/** A live cluster for tests, on free ports, with a temporary data folder. */

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Cluster, type ClusterOptions, startCluster } from '../../src/live/cluster.ts'
import { descendants as runningDescendants } from './processes.ts'

export interface Live extends Cluster {
  dataDir: string
  lines: string[]
}

/** For temporary files of this process and its children, so that no test sees those of others. */
const scratch = mkdtempSync(join(tmpdir(), 'plimsoll-test-'))
process.env.TMPDIR = scratch
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))

export const fixtures = join(import.meta.dirname, '..', 'fixtures', 'door.ts')
export const inputs = join(import.meta.dirname, '..', 'fixtures', 'inputs.ts')
export const cli = join(import.meta.dirname, '..', '..', 'src', 'cli', 'plimsoll.js')

/** Tolerates workers, launches and attempts that a busy machine delays. Tests of lost workers override it. */
export const patient = { missedBeats: 1000, freshMs: 2 ** 30, settleMs: 2 ** 30, bootMs: 600_000 }

/** `wait`: resolves only when a worker is ready. */
export async function startLive(options: Partial<ClusterOptions> = {}, wait = true): Promise<Live> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-live-'))
  const lines: string[] = []
  const cluster = await startCluster({
    files: [fixtures],
    dataDir,
    host: '127.0.0.1',
    port: 0,
    adminPort: 0,
    min: 1,
    max: 1,
    scheduler: 'srpt',
    discipline: 'srpt',
    jobMemoryMb: 256,
    slots: 4,
    queue: 10,
    workerCommand: [process.execPath, cli, 'worker'],
    limits: patient,
    workerGraceMs: 20_000,
    log: (line) => lines.push(line),
    ...options,
  })
  if (wait) await cluster.ready
  return { ...cluster, dataDir, lines }
}

export async function stopLive(live: Live): Promise<void> {
  await live.stop(0)
  rmSync(live.dataDir, { recursive: true, force: true })
}

/** One cluster for all tests of a file. Its properties are set before the first test. */
export function useLive(options: Partial<ClusterOptions> = {}): Live {
  const live = {} as Live
  const started = Promise.withResolvers<Live>()
  before(() => startLive(options).then((it) => started.resolve(Object.assign(live, it)), started.reject))
  after(async () => stopLive(await started.promise))
  return live
}

/** Polls for a condition that no event reports. The limit only ends tests that would hang. */
export async function until(isSo: () => unknown, what: string): Promise<void> {
  const limit = performance.now() + 60_000
  while (!isSo()) {
    if (performance.now() > limit) throw new Error(`timed out waiting until ${what}`)
    await delay(5)
  }
}

/** Waits until the brain has no job and, but for rounding errors, no memory in use. */
export async function untilIdle(live: Live): Promise<void> {
  const idle = () => {
    const { jobs, workers } = live.state()
    return jobs === 0 && workers.every(({ usedMemoryMb }) => Math.abs(usedMemoryMb) < 0.001)
  }
  await until(idle, 'no job is left')
}

export interface Problem {
  status: number
  code: string
  detail: string
  headers: Headers
  [field: string]: unknown
}

/** Asserts that the answer is a problem document of this status. */
export async function problemOf(answer: Response | Promise<Response>, status: number): Promise<Problem> {
  const response = await answer
  const text = await response.text()
  assert.equal(response.status, status, text)
  assert.equal(response.headers.get('content-type'), 'application/problem+json')
  const { type, ...fields } = JSON.parse(text)
  assert.equal(fields.status, status)
  assert.match(type, /^urn:plimsoll:/)
  return { ...fields, code: type.slice('urn:plimsoll:'.length), headers: response.headers }
}

export async function assertWell(live: Live): Promise<void> {
  const answer = await fetch(`${live.url}/strict?n=21`)
  assert.equal(await answer.text(), '42')
}

/** What `plimsoll why` tells the operator about the job of an answer. */
export async function storyOf(live: Live, headers: Headers): Promise<string> {
  return (await fetch(`${live.adminUrl}/api/jobs/${headers.get('plimsoll-job')}/why`)).text()
}

/** A bare connection to the front. */
export function dial(live: Live): Socket {
  const { hostname, port } = new URL(live.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  return socket
}

/** Reads until either side closes the connection. */
export async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (bytes) => chunks.push(bytes))
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  return Buffer.concat(chunks).toString('latin1')
}

export async function sendRaw(live: Live, ...parts: (string | Buffer)[]): Promise<string> {
  const socket = dial(live)
  for (const part of parts) socket.write(part)
  return readAll(socket)
}

/** Reads until the text matches. */
export async function readUntil(socket: Socket, pattern: RegExp): Promise<string> {
  let text = ''
  const take = (bytes: Buffer) => {
    text += bytes.toString('latin1')
  }
  socket.on('data', take)
  await until(() => pattern.test(text) || socket.closed, `${pattern} has arrived`)
  socket.off('data', take)
  assert.match(text, pattern)
  return text
}

/** Temporary files of bodies, open or by name. */
export function keptBodies(): string[] {
  const open = readdirSync('/proc/self/fd').map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      return ''
    }
  })
  return [...open, ...readdirSync(tmpdir())].filter((name) => name.includes('plimsoll-body-'))
}

/** All running descendants of a process. */
export function descendants(pid = process.pid): number[] {
  return runningDescendants(pid).map((found) => found.pid)
}

export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** The process id of a worker. */
export function workerPid(): number {
  const pid = descendants().find((child) => / worker --join /.test(commandOf(child)))
  assert.ok(pid, 'no worker process')
  return pid
}

export function open(live: Live, gate: string): void {
  writeFileSync(join(live.dataDir, gate), '')
}
