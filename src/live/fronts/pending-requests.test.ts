import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { RequestProblem } from '../../front/problem.ts'
import type { Submission } from '../../front/request/submit.ts'
import type { FromFront, ToFront } from '../../wire/front-messages.ts'
import { KnownWorkers } from './known-workers.ts'
import { PendingRequests } from './pending-requests.ts'

/** One request at a front that knows no worker. */
function pending(transport: object = {}) {
  const sent: FromFront[] = []
  const lines: string[] = []
  const problems: RequestProblem[] = []
  const workers = new KnownWorkers()
  const requests = new PendingRequests({
    workers,
    holdMs: 1_000,
    now: () => 0,
    link: () => ({ isUp: true, send: (message) => sent.push(message) }),
    log: (line) => lines.push(line),
  })
  requests.submit({
    job: { id: 'j', workload: 'x', work: 1, memoryMb: 1 },
    question: { workload: 'x', codeHash: '', key: '', params: {}, features: {} },
    params: {},
    hasBody: false,
    transport: { asked: { params: {} }, begun: false, ...transport },
    receiver: { onGone() {}, refuse: (problem: RequestProblem) => problems.push(problem) },
    estimateMs: 0,
    exposeErrors: false,
  } as unknown as Submission)
  const run = (more: Partial<Extract<ToFront, { type: 'run' }>>) =>
    requests.receive({
      type: 'run',
      epoch: 1,
      job: 'j',
      attempt: 1,
      worker: 'w',
      work: 1,
      estimateMs: 0,
      ...more,
    })
  const failures = () => sent.flatMap((message) => (message.type === 'attempt' ? [message.event] : []))
  const arrivals = () => sent.filter((message) => message.type === 'arrived')
  return { requests, workers, run, failures, arrivals, lines, problems }
}

const failed = { type: 'failed', epoch: 1, job: 'j', attempt: 1, worker: 'w', kind: 'unreachable' } as const

test('an attempt on a worker that the front does not know fails at once', () => {
  const { run, failures, lines } = pending()
  run({})
  const message = 'it is unknown to this front'
  assert.deepEqual(failures(), [{ ...failed, message }])
  assert.deepEqual(lines, [`job j: attempt 1 could not be sent to w: ${message}`])
})

test('an attempt at an address that cannot be used fails at once', () => {
  const { run, failures, lines } = pending()
  run({ address: { host: 'no host', port: 99_999_999 } })
  const [event] = failures()
  assert.equal(event?.type === 'failed' && event.kind, 'unreachable')
  assert.equal(lines.length, 1)
})

/** A request with an attempt at a worker, under brain 1. */
function running(t: TestContext, carry: () => Promise<unknown>) {
  const all = pending({ carry })
  t.after(() => {
    all.requests.close()
    all.workers.close()
  })
  all.requests.welcomed({ resumed: true, queue: 10, epoch: 1 })
  all.workers.add('w', { host: '127.0.0.1', port: 1 })
  all.run({})
  return all
}

const forever = () => new Promise(() => {})

test('a new brain is told of an attempt that goes on, under the same job id', (t) => {
  const { requests, arrivals } = running(t, forever)
  requests.receive({ type: 'go', epoch: 1, job: 'j', attempt: 1 })
  requests.welcomed({ resumed: false, queue: 10, epoch: 2 })
  const [, again] = arrivals()
  assert.equal(again?.job, 'j')
  assert.deepEqual(again.on, { worker: 'w', epoch: 1, attempt: 1, committed: true })
})

test('a new brain is told of a failure that the last one may not have noted', async (t) => {
  const { requests, arrivals, failures } = running(t, () => Promise.reject(new Error('broken')))
  await turn()
  assert.equal(failures().length, 1)
  requests.welcomed({ resumed: false, queue: 10, epoch: 2 })
  assert.deepEqual(arrivals()[1]?.on, { worker: 'w', epoch: 1, attempt: 1 })
  assert.deepEqual(failures()[1], failures()[0])
})

test('the same brain, which has given up the front, is asked again under another job id', (t) => {
  const { requests, arrivals } = running(t, forever)
  requests.welcomed({ resumed: false, queue: 10, epoch: 1 })
  const [, again] = arrivals()
  assert.notEqual(again?.job, 'j')
  assert.equal(again?.on, undefined)
})
