/** The story, over HTTP, of a long job that was preempted by short ones and lost its worker. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import type { Estimator } from '../../src/estimate/estimator.ts'
import { defaultMeter } from '../../src/meter/hooks.ts'
import type { WhyDocument } from '../../src/story/document.ts'
import { nominalRate } from '../../src/worker/rates.ts'
import { problemOf, until, untilIdle, useLive } from '../support/live.ts'

/** Estimates what the request states. */
const told: Estimator = {
  estimate({ params }) {
    const work = Number((params as { ms: string }).ms) * nominalRate(defaultMeter)
    return { work, low: work, high: work, source: 'prior', reason: { code: 'fixed' }, memoryMb: 1 }
  },
  learn() {},
}

const live = useLive({ files: [join(import.meta.dirname, '..', 'fixtures', 'spins.ts')], estimator: told })

/** Runs a job and returns its id. */
async function spun(ms: number): Promise<string> {
  const answer = await fetch(`${live.url}/spin?ms=${ms}`)
  assert.equal(answer.status, 204)
  return answer.headers.get('plimsoll-job')!
}

const whyOf = (job: string, accept = 'application/json') =>
  fetch(`${live.adminUrl}/api/jobs/${job}/why`, { headers: { accept } })

/** Running jobs of all jobs on the worker. */
const runningJobs = () => {
  const jobs = live.state().workers.flatMap((worker) => worker.jobs)
  return `${jobs.filter(({ running }) => running).length} of ${jobs.length}`
}

test('why explains a job that was preempted, lost its worker and was retried', async () => {
  const long = spun(1500)
  await until(() => runningJobs() === '1 of 1', 'the long job runs')
  const shorts = [await spun(50), await spun(60)]
  await until(() => runningJobs() === '1 of 1', 'the long job runs again')
  const [{ id: killed = '', pid = 0 } = {}] = live.state().workers
  process.kill(pid, 'SIGKILL')
  const job = await long
  await untilIdle(live)

  const why = (await (await whyOf(job)).json()) as WhyDocument
  assert.deepEqual(
    [why.job, why.workload, why.outcome, why.attempts, why.pauses, why.passedBy],
    [job, 'spin', 'result', 2, 2, 2],
  )
  const events = why.story.map(({ event }) => event).filter((event) => event !== 'drop')
  assert.deepEqual(
    events.filter((event) => event !== 'wait'),
    ['arrived', 'run', 'pause', 'resume', 'pause', 'resume', 'retry', 'run', 'answer'],
  )
  const sum = why.waitedMs + why.behindMs + why.pausedMs + why.ranMs + why.lostMs
  assert.ok(Math.abs(sum - why.responseMs) < 0.1, `the story covers ${sum} of ${why.responseMs} ms`)
  for (const { afterMs, text, reason } of why.story) {
    assert.ok(afterMs >= 0 && reason.code && /^[A-Z].*\.$/.test(text), text)
  }

  const answer = await whyOf(job, 'text/plain')
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/)
  const page = (await answer.text()).replace(/\s+/g, ' ')
  for (const words of [
    `Job ${job} (spin) It took `,
    'paused twice, ',
    ' while 2 jobs that needed less ran in its place',
    `lost its first attempt with worker ${killed} after it had run `,
    'Arrived: a spin job, expected to need about 1.5 s (',
    'Basis: set in advance.',
    `Paused: job ${shorts[0]} preempts it: ${shorts[0]} needs 50 ms, this one another `,
    `, when job ${shorts[0]} finished: a core is free, and it needs another `,
    `Paused: job ${shorts[1]} preempts it: ${shorts[1]} needs 60 ms, this one another `,
    `Attempt 1 on ${killed} failed after `,
    'It had run for ',
    'Started again (attempt 2) on ',
    'Answered after ',
  ]) {
    assert.ok(page.includes(words), `“${words}” in: ${page}`)
  }
})

test('an unknown job is a 404 that says how many jobs are remembered', async () => {
  const job = await spun(1)
  const problem = await problemOf(whyOf('nobody'), 404)
  assert.equal(problem.code, 'unknown-job')
  assert.match(problem.detail, /^Job nobody is unknown\. Known are 0 open jobs and /)
  assert.ok(Number(problem.finished) >= 1)
  assert.equal((await whyOf(job)).status, 200)
  await problemOf(fetch(`${live.adminUrl}/api/jobs/${job}`), 404)
  const headers = { authorization: `Bearer ${live.tokens.operator}` }
  await problemOf(fetch(`${live.adminUrl}/api/jobs/${job}/why`, { method: 'DELETE', headers }), 405)
})
