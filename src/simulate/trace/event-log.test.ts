import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { encodeHeader, logVersion } from '../../brain/log/log.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { Event } from '../../model/event.ts'
import type { Job } from '../../model/job.ts'
import { poisson } from '../arrivals.ts'
import { type RunSpec, simulate, unitsPerSecond } from '../simulate.ts'
import { lognormal } from '../sizes.ts'
import { readTrace } from './read.ts'
import type { RecordedJobs } from './trace.ts'
import { trafficOf } from './traffic.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-logs-'))
after(() => rmSync(folder, { recursive: true }))

const path = join(folder, 'log')
const brain = {
  scheduler: 'srpt',
  discipline: 'srpt',
  scale: { min: 2, max: 2 },
  epoch: 1,
  seed: 1,
  limits: {},
} as const

function logOf(...entries: [at: number, event: Event][]): { option: string; path: string } {
  const lines = entries.map(([at, event]) => `${JSON.stringify({ at, event, actions: [] })}\n`)
  writeFileSync(path, encodeHeader(brain) + lines.join(''))
  return { option: '--trace', path }
}

const arrived = (job: Partial<Job> & { id: string }): Event => ({
  type: 'arrived',
  job: { workload: 'w', work: 500, memoryMb: 0, ...job },
})
const joined: Event = {
  type: 'joined',
  worker: { id: 'w1', cores: 2, workPerSecond: 1000, memoryMb: 1000, slots: 4 },
  seq: 1,
  held: [],
}
const finished = (job: string, work: number): Event => ({
  type: 'finished',
  epoch: 1,
  job,
  attempt: 1,
  worker: 'w1',
  work,
})

test('a log yields arrivals, the known facts of each job, and its measured work', async () => {
  const trace = await readTrace(
    logOf(
      [1000, joined],
      [1000, arrived({ id: 'a', low: 250, high: 1000, memoryMb: 64, client: 'ann', deadlineAt: 6000 })],
      [1500, arrived({ id: 'b', preemptible: false })],
      [2000, finished('b', 2000)],
      [2500, finished('a', 100)],
    ),
  )
  const { atMs, seconds, known } = trace.recorded as RecordedJobs
  assert.deepEqual([trace.format, trace.dated, trace.notes], ['event-log', false, []])
  assert.deepEqual([...atMs], [1000, 1500])
  assert.deepEqual([...seconds], [0.1, 2])
  const work = unitsPerSecond / 2
  assert.deepEqual(known, [
    { workload: 'w', work, low: work / 2, high: work * 2, memoryMb: 64, client: 'ann', deadlineMs: 5000 },
    { workload: 'w', work, memoryMb: 0, preemptible: false },
  ])
})

test('jobs that never finished have their estimate as work; a note gives their number', async () => {
  const trace = await readTrace(
    logOf([0, joined], [1, arrived({ id: 'a' })], [2, arrived({ id: 'b' })], [3, finished('a', 9)]),
  )
  assert.deepEqual([...(trace.recorded as RecordedJobs).seconds], [0.009, 0.5])
  assert.deepEqual(trace.notes, ['1 of 2 jobs never finished; their estimates are used.'])
})

test('a late answer of a superseded attempt changes nothing', async () => {
  const trace = await readTrace(
    logOf([0, joined], [1, arrived({ id: 'a' })], [3, finished('a', 9)], [4, finished('a', 7)]),
  )
  assert.deepEqual([...(trace.recorded as RecordedJobs).seconds], [0.009])
})

test('times that are dates are recognised, and a clock set back stands still', async () => {
  const at = Date.UTC(2026, 0, 2)
  const trace = await readTrace(logOf([at, arrived({ id: 'a' })], [at - 50, arrived({ id: 'b' })]))
  assert.equal(trace.dated, true)
  assert.deepEqual([...trace.recorded.atMs], [at, at])
})

test('an invalid log is rejected; the error names file and line', async () => {
  const refuses = (file: { option: string; path: string }, message: string) =>
    assert.rejects(readTrace(file), new ConfigError(`--trace = ${path}: ${message}`))
  await refuses(
    logOf([1, arrived({ id: 'a', work: -1 })]),
    'line 2: job a: work = -1: must be a number, 0 or more',
  )
  await refuses(
    logOf([1, arrived({ id: 'a' })], [2, finished('a', -4)]),
    'line 3: finished: work = -4: must be a number, 0 or more',
  )
  await refuses(logOf([1, arrived({ id: 'a' })], [1, arrived({ id: 'a' })]), 'line 3: job a arrives twice')
  await refuses(
    logOf([1, { type: 'arrived' } as unknown as Event]),
    'line 2: arrived: must have a "job" with an "id"',
  )
  await refuses(logOf([1, { type: 'joined' } as unknown as Event]), 'line 2: joined: must have a "worker"')
  await refuses(logOf([1, joined]), 'holds no traffic (no job arrives in it)')
  writeFileSync(path, `${encodeHeader(brain)}{"at":1,"ev`)
  await refuses({ option: '--trace', path }, 'line 2: not JSON: {"at":1,"ev')
  writeFileSync(path, '{"plimsoll":"event-log","version":99}\n')
  await refuses({ option: '--trace', path }, `line 1: event log of version 99; this is version ${logVersion}`)
})

test('a simulated log that is simulated again with the same policy gives the same log, byte for byte', async () => {
  const sizes = lognormal(-2, 1)
  const spec = {
    brain,
    fleet: { cores: 2, workPerSecond: unitsPerSecond, memoryMb: 1000, slots: 18, bootMs: 0 },
    seed: 3,
    errorSigma: 0.5,
  }
  const logged = (traffic: Pick<RunSpec, 'jobs' | 'arrivals' | 'sizes' | 'known'>) => {
    const chunks: Buffer[] = []
    simulate({ ...spec, ...traffic }, { log: (chunk) => void chunks.push(Buffer.from(chunk)) })
    return Buffer.concat(chunks)
  }
  const first = logged({ jobs: 5000, arrivals: poisson(3 / sizes.meanSeconds), sizes })
  writeFileSync(path, first)
  const trace = await readTrace({ option: '--trace', path })
  assert.ok(logged(trafficOf(trace, { cores: 4 }).run()).equals(first))
})
