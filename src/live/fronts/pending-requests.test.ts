import assert from 'node:assert/strict'
import { test } from 'node:test'
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
  const requests = new PendingRequests({
    workers: new KnownWorkers(),
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
  return { requests, run, failures, lines, problems }
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
