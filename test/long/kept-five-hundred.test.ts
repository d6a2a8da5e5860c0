/** 500 kept jobs in all states when a process is killed: 500 right results, and none that has ended runs again. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isAlive, until } from '../support/processes.ts'
import { startUp, type Up } from '../support/up.ts'

const jobs = 500
/** The first jobs take longer, so that later ones overtake them. */
const [longJobs, longMs, shortMs] = [12, 400, 4]
/** Requests at a time. */
const lanes = 16
const workload = join(import.meta.dirname, '..', 'fixtures', 'logged.ts')
const patient = { timeout: 120_000 }

interface Job {
  id: string
  state: string
  endedAt?: string
  answer?: { status: number }
}

/** Calls back for each item, a few at a time. */
async function forAll<T>(items: readonly T[], then: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < items.length) await then(items[next++]!)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** A request that is repeated until the cluster answers. */
async function ask(url: () => string, path: string, init: RequestInit = {}): Promise<Response> {
  for (;;) {
    const answer = await fetch(url() + path, init).catch(() => undefined)
    if (answer && answer.status !== 503) return answer
    await answer?.body?.cancel()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Then the cluster predicts that the first jobs take longer than the others, and pauses them. */
async function teach({ url }: Up): Promise<void> {
  const lengths = Array.from({ length: 24 }, (_, index) => (index % 2 === 0 ? shortMs : longMs / 4))
  for (const [index, ms] of lengths.entries())
    await (await ask(() => url, `/logged?id=taught-${index}&ms=${ms}`)).text()
}

/** Hands all jobs in, the short ones when long ones run. Resolves with their ids, by their names. */
async function handIn({ url }: Up): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  const handInAll = (names: readonly string[]) => forAll(names, (name) => handInOne(name))
  const handInOne = async (name: string) => {
    const ms = Number(name.slice(4)) < longJobs ? longMs : shortMs
    const headers = { prefer: 'respond-async', 'idempotency-key': name }
    const answer = await ask(() => url, `/logged?id=${name}&ms=${ms}`, { method: 'POST', headers })
    const { id } = (await answer.json()) as Job
    assert.equal(answer.status, 202)
    ids.set(name, id)
  }
  const names = Array.from({ length: jobs }, (_, index) => `job-${index}`)
  await handInAll(names.slice(0, longJobs))
  const runs = async () => (await jobsOf(() => url, 'limit=100')).some(({ state }) => state === 'running')
  await until('a long job runs', runs, 30_000)
  await handInAll(names.slice(longJobs))
  return ids
}

async function jobsOf(url: () => string, query: string): Promise<Job[]> {
  const answer = await ask(url, `/-/jobs?${query}`)
  return ((await answer.json()) as { jobs: Job[] }).jobs
}

/** When each job has started to run, in milliseconds since 1970. */
function runsIn(dataDir: string): Map<string, number[]> {
  const runs = new Map<string, number[]>()
  for (const line of readFileSync(join(dataDir, 'logged'), 'utf8').split('\n').filter(Boolean)) {
    const [name = '', at] = line.split(' ')
    runs.set(name, [...(runs.get(name) ?? []), Number(at)])
  }
  return runs
}

/** `kill` resolves with the cluster that goes on. */
async function survives(t: TestContext, kill: (up: Up) => Promise<Up>): Promise<void> {
  const first = await startUp(t, '--workloads', workload)
  let up = first
  const url = () => up.url
  await teach(first)
  const ids = await handIn(first)
  const isBusy = async () => (await jobsOf(url, `state=answered&limit=${jobs / 4}`)).length === jobs / 4
  await until('a quarter is answered', isBusy, 60_000)
  const before = await jobsOf(url, 'limit=1000')
  const states = Object.groupBy(before, ({ state }) => state)
  const counts = Object.fromEntries(Object.entries(states).map(([state, list]) => [state, list!.length]))
  t.diagnostic(JSON.stringify(counts))
  // Some are usually paused too; when, depends on what has been learned.
  const { running, queued, answered } = counts
  assert.ok(running && queued && answered && answered < jobs, 'all states occur')
  up = await kill(first)
  const isDone = async () => (await jobsOf(url, 'state=open&limit=1')).length === 0
  await until('all jobs are answered', isDone, 60_000)
  const after = new Map((await jobsOf(url, 'limit=1000')).map((job) => [job.id, job]))
  assert.equal(after.size, jobs)
  await forAll([...ids], async ([name, id]) => {
    const result = await ask(url, `/-/jobs/${id}/result`)
    assert.deepEqual([result.status, await result.text()], [200, `${name} is done`])
  })
  const runs = runsIn(first.dataDir)
  for (const [name, id] of ids) {
    const endedAt = Date.parse(after.get(id)!.endedAt!)
    assert.ok(
      runs.get(name)!.every((startedAt) => startedAt <= endedAt),
      `${name} ran after it had ended`,
    )
  }
  for (const job of states.answered!) assert.deepEqual(after.get(job.id), job)
  const again = [...runs.values()].filter(({ length }) => length > 1).length
  t.diagnostic(`${again} jobs that had not ended ran again`)
}

async function killed(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL')
  await until('it is dead', () => !isAlive(pid), 10_000)
}

test('500 kept jobs survive the death of the brain', patient, (t) =>
  survives(t, async (up) => {
    await killed(up.brain())
    return up
  }),
)

test('500 kept jobs survive the death of the keeper', patient, (t) =>
  survives(t, async (up) => {
    await killed(up.keeper()!)
    return up
  }),
)

test('500 kept jobs survive the death of the cluster', patient, (t) =>
  survives(t, async (up) => {
    await killed(up.process.pid!)
    return startUp(t, '--workloads', workload, '--data', up.dataDir)
  }),
)
