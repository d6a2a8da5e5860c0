/** 500 kept jobs in all states when a process is killed: 500 right results, and none that has ended runs again. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { startPostgres } from '../support/postgres.ts'
import { allProcesses, isAlive, until } from '../support/processes.ts'
import { startUp, type Up } from '../support/up.ts'

const server = await startPostgres()
after(() => server?.stop())

const jobs = 500
/** The first jobs take longer, so that later ones overtake them. */
const [longJobs, longMs, shortMs] = [12, 400, 25]
/** Requests at a time. */
const lanes = 16
const workload = join(import.meta.dirname, '..', 'fixtures', 'logged.ts')
const patient = { timeout: 400_000 }
/** For what a busy machine may take long for. */
const limitMs = 120_000

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

/** The times in a file of the workload, in milliseconds since 1970, for each job. */
function timesIn(dataDirs: readonly string[], name: string): Map<string, number[]> {
  const times = new Map<string, number[]>()
  for (const file of dataDirs.map((folder) => join(folder, name)).filter(existsSync))
    for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
      const [job = '', at] = line.split(' ')
      times.set(job, [...(times.get(job) ?? []), Number(at)])
    }
  return times
}

/** Jobs in all states at the same time. */
async function inAllStates(t: TestContext, url: () => string): Promise<Job[]> {
  for (;;) {
    const all = await jobsOf(url, 'limit=1000')
    const countOf = (state: string) => all.filter((job) => job.state === state).length
    const counts = ['queued', 'running', 'paused', 'answered'].map((state) => `${countOf(state)} ${state}`)
    assert.ok(countOf('answered') < jobs, `all jobs are answered, and these states never met: ${counts}`)
    if (counts.some((count) => count.startsWith('0 '))) continue
    t.diagnostic(counts.join(', '))
    return all.filter(({ state }) => state === 'answered')
  }
}

/** Stops the keeper until a job has ended whose answer it cannot store: this job is finishing. */
async function untilFinishing(t: TestContext, { keeper, dataDir }: Up): Promise<void> {
  const pid = keeper()!
  process.kill(pid, 'SIGSTOP')
  const isStopped = () => allProcesses().some((each) => each.pid === pid && each.state === 'T')
  await until('the keeper is stopped', isStopped, limitMs)
  const stoppedAt = Date.now()
  const finishing = () =>
    [...timesIn([dataDir], 'logged-ends')].filter(([, times]) => times.some((at) => at > stoppedAt))
  await until('a job is finishing', () => finishing().length > 0, limitMs)
  t.diagnostic(`${finishing().length} finishing`)
}

/** `kill` resolves with the cluster that goes on. Meanwhile the keeper of the first one is stopped. */
async function survives(
  t: TestContext,
  start: () => Promise<Up>,
  kill: (up: Up) => Promise<Up>,
): Promise<void> {
  const first = await start()
  let up = first
  const url = () => up.url
  await teach(first)
  const ids = await handIn(first)
  const answered = await inAllStates(t, url)
  await untilFinishing(t, first)
  up = await kill(first)
  const isDone = async () => (await jobsOf(url, 'state=open&limit=1')).length === 0
  await until('all jobs are answered', isDone, limitMs)
  const after = new Map((await jobsOf(url, 'limit=1000')).map((job) => [job.id, job]))
  assert.equal(after.size, jobs)
  await forAll([...ids], async ([name, id]) => {
    const result = await ask(url, `/-/jobs/${id}/result`)
    assert.deepEqual([result.status, await result.text()], [200, `${name} is done`])
  })
  const runs = timesIn([...new Set([first.dataDir, up.dataDir])], 'logged')
  for (const [name, id] of ids) {
    const endedAt = Date.parse(after.get(id)!.endedAt!)
    assert.ok(
      runs.get(name)!.every((startedAt) => startedAt <= endedAt),
      `${name} ran after it had ended`,
    )
  }
  for (const job of answered) {
    const { answer, endedAt } = after.get(job.id)!
    assert.deepEqual({ answer, endedAt }, { answer: job.answer, endedAt: job.endedAt })
  }
  const again = [...runs.values()].filter(({ length }) => length > 1).length
  t.diagnostic(`${again} jobs that had not ended ran again`)
}

async function killed(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL')
  await until('it is dead', () => !isAlive(pid), 10_000)
}

/** Starts a cluster with 500 jobs of its own. */
const starts =
  (t: TestContext, ...args: string[]) =>
  () =>
    startUp(t, '--workloads', workload, ...args)

test('500 kept jobs survive the death of the brain', patient, (t) =>
  survives(t, starts(t), async (up) => {
    await killed(up.brain())
    process.kill(up.keeper()!, 'SIGCONT')
    return up
  }),
)

test('500 kept jobs survive the death of the keeper', patient, (t) =>
  survives(t, starts(t), async (up) => {
    await killed(up.keeper()!)
    return up
  }),
)

test('500 kept jobs survive the death of the cluster', patient, (t) =>
  survives(t, starts(t), async (up) => {
    await killed(up.process.pid!)
    return starts(t, '--data', up.dataDir)()
  }),
)

test('500 kept jobs survive the death of the brain, stored in PostgreSQL', {
  ...patient,
  skip: !server,
}, async (t) => {
  const store = await server!.createDatabase()
  await survives(t, starts(t, '--store', store), async (up) => {
    await killed(up.brain())
    process.kill(up.keeper()!, 'SIGCONT')
    return up
  })
})

test('500 kept jobs survive the death of a cluster, and its standby goes on with them', {
  ...patient,
  skip: !server,
}, async (t) => {
  const store = await server!.createDatabase()
  let standby: Up | undefined
  const start = async () => {
    const first = await starts(t, '--store', store)()
    standby = await starts(t, '--store', store, '--standby')()
    const waits = () => standby!.lines.some((line) => /another cluster keeps the requests/.test(line))
    await until('the standby waits', waits, limitMs)
    return first
  }
  await survives(t, start, async (up) => {
    const killedAt = performance.now()
    await killed(up.process.pid!)
    const leads = () => standby!.lines.some((line) => /goes on with \d+ jobs/.test(line))
    await until('the standby leads', leads, limitMs)
    t.diagnostic(`take-over in ${((performance.now() - killedAt) / 1000).toFixed(1)} s`)
    return standby!
  })
})
