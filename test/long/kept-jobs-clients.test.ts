/** Kept jobs as clients and operators meet them: waiting, asking, and what they are told when something goes wrong. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { cli, problemOf } from '../support/live.ts'
import { startUp, type Up } from '../support/up.ts'

const patient = { timeout: 180_000 }

interface Job {
  id: string
  state: string
  method: string
  target: string
  client?: string
}

const ask = (up: Up, path: string, headers: Record<string, string>) =>
  fetch(`${up.url}${path}`, { method: 'POST', headers })

async function jobsOf(up: Up, query = '', headers: Record<string, string> = {}): Promise<Job[]> {
  const answer = await fetch(`${up.url}/-/jobs${query}`, { headers })
  assert.equal(answer.status, 200)
  return ((await answer.json()) as { jobs: Job[] }).jobs
}

/** The test's own limit ends it. */
async function untilSo(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20))
}

async function untilKept(up: Up, count: number): Promise<Job[]> {
  await untilSo(async () => (await jobsOf(up)).length >= count)
  return jobsOf(up)
}

test(
  'clients that wait for kept jobs are told where these are when the cluster stops',
  patient,
  async (t) => {
    const up = await startUp(t)
    const waiting = [
      ask(up, '/gated?gate=s', { 'idempotency-key': 'a' }),
      ask(up, '/gated?gate=s', { prefer: 'wait=600' }),
    ]
    await untilKept(up, 2)
    const events = await fetch(`${up.url}/-/jobs/${(await jobsOf(up))[0]!.id}/events`)
    const followed = events.text()
    up.process.kill('SIGINT')
    const answers = await Promise.all(waiting)
    for (const answer of answers) {
      const { id } = (await answer.json()) as Job
      assert.deepEqual([answer.status, answer.headers.get('location')], [202, `/-/jobs/${id}`])
    }
    assert.equal(answers[1]!.headers.get('preference-applied'), 'wait=600')
    assert.match(await followed, /event: accepted/)
    const next = await startUp(t, '--data', up.dataDir)
    up.open('s')
    for (const { id } of await jobsOf(next, '?state=open')) {
      const answer = await fetch(`${next.url}/-/jobs/${id}/result`)
      assert.ok([200, 202].includes(answer.status))
    }
  },
)

test('a client that waits is told where its job is when the keeper dies', patient, async (t) => {
  const up = await startUp(t)
  const waiting = ask(up, '/gated?gate=d', { 'idempotency-key': 'a' })
  const [job] = await untilKept(up, 1)
  process.kill(up.keeper()!, 'SIGKILL')
  const answer = await waiting
  assert.deepEqual([answer.status, answer.headers.get('location')], [202, `/-/jobs/${job!.id}`])
  up.open('d')
  await untilSo(async () => {
    const result = await fetch(`${up.url}/-/jobs/${job!.id}/result`)
    return result.status === 200 && (await result.text()) === 'opened'
  })
})

test('questions about jobs are answered by what they ask', patient, async (t) => {
  const up = await startUp(t)
  const made = (await (await ask(up, '/strict?n=1', { prefer: 'respond-async' })).json()) as Job
  assert.deepEqual([made.method, made.target], ['POST', '/strict?n=1'])
  for (const [method, path, allow] of [
    ['POST', '/-/jobs', 'GET, HEAD'],
    ['PUT', '/-/jobs/x', 'GET, HEAD, DELETE'],
    ['DELETE', `/-/jobs/${made.id}/result`, 'GET, HEAD'],
  ] as const) {
    const answer = await fetch(`${up.url}${path}`, { method })
    assert.deepEqual([answer.status, answer.headers.get('allow')], [405, allow], `${method} ${path}`)
    await answer.body?.cancel()
  }
  assert.deepEqual(
    (await jobsOf(up, '/')).map(({ id }) => id),
    [made.id],
  )
  const problem = await problemOf(fetch(`${up.url}/-/jobs?cursor=nope`), 400)
  assert.equal(problem.detail, 'cursor: must be the cursor of the page before.')
  const running = (await (await ask(up, '/gated?gate=q', { prefer: 'respond-async' })).json()) as Job
  await untilSo(async () => (await jobsOf(up, '?state=running'))[0]?.id === running.id)
  up.open('q')
})

test('an operator sees and cancels the jobs of all clients', patient, async (t) => {
  const up = await startUp(t, '--client-by', 'key')
  const alice = { authorization: 'Bearer alice' }
  const made = (await (await ask(up, '/gated?gate=o', { ...alice, prefer: 'respond-async' })).json()) as Job
  assert.deepEqual(await jobsOf(up), [])
  assert.equal((await jobsOf(up, '', alice)).length, 1)
  const token = readFileSync(join(up.dataDir, 'tokens', 'operator'), 'utf8').trim()
  const operator = { 'plimsoll-operator': `Bearer ${token}` }
  const [seen] = await jobsOf(up, '', operator)
  assert.equal(seen?.id, made.id)
  assert.equal((await jobsOf(up, `?client=${encodeURIComponent(seen!.client!)}`, operator)).length, 1)
  assert.equal((await jobsOf(up, '?client=nobody', operator)).length, 0)
  await problemOf(fetch(`${up.url}/-/jobs`, { headers: { 'plimsoll-operator': 'Bearer x' } }), 403)
  await problemOf(fetch(`${up.url}/-/jobs?client=alice`, { headers: alice }), 400)
  const forged = { 'plimsoll-kept-operator': `Bearer ${token}`, 'plimsoll-kept-client': seen!.client! }
  assert.deepEqual(await jobsOf(up, '', forged), [])
  const cancelled = await fetch(`${up.url}/-/jobs/${made.id}`, { method: 'DELETE', headers: operator })
  assert.deepEqual([cancelled.status, ((await cancelled.json()) as Job).state], [200, 'cancelled'])
})

/** The command line, with the data folder of the cluster. */
async function run(up: Up, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const all = [cli, ...args, '--data', up.dataDir]
  return promisify(execFile)(process.execPath, all, { encoding: 'utf8' })
}

test('the command line shows jobs, their stories and their results', patient, async (t) => {
  const up = await startUp(t, '--async-above', '1ms')
  up.open('c')
  const { stdout, stderr } = await run(up, 'request', 'gated', 'gate=c')
  assert.equal(stdout, 'opened')
  const id = /as job (\S+);/.exec(stderr)?.[1]
  assert.ok(id !== undefined, stderr)
  const shown = (await run(up, 'jobs', 'show', id)).stdout
  assert.match(shown, /request +POST \/gated\n/)
  const story = /plimsoll why (\S+)/.exec(shown)?.[1]
  assert.ok(story !== undefined, shown)
  assert.equal((await run(up, 'why', id)).stdout, (await run(up, 'why', story)).stdout)
  assert.match((await run(up, 'jobs', '--all')).stdout, new RegExp(`${id}.*POST /gated`))
  const json = (await run(up, 'request', 'gated', 'gate=c', '--async', '--json')).stdout
  assert.match((JSON.parse(json) as Job).id, /^[0-9a-z]{9}-/)
})

test('a request that is kept for its length states no preference', patient, async (t) => {
  const up = await startUp(t, '--async-above', '1ms')
  const answer = await ask(up, '/gated?gate=l', {})
  assert.equal(answer.status, 202)
  assert.equal(answer.headers.get('preference-applied'), null)
  up.open('l')
})
