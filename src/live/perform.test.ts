import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenJob } from '../front/open-job.ts'
import { Outage } from '../lib/outage.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import { OpenJobs } from './open-jobs.ts'
import { type PerformParts, performer } from './perform.ts'

const reason = { code: 'core-free' }
const token = { epoch: 1, job: 'j', attempt: 1 }
const run: Action = { type: 'run', ...token, worker: 'w', reason }

/** A performer with one worker and one job, which is run by `runs`. */
function trial(runs: OpenJob['run'], parts: Partial<PerformParts> = {}) {
  const lines: string[] = []
  const events: Event[] = []
  const jobs = new OpenJobs()
  const job = { id: 'j', workload: 'x', work: 1, memoryMb: 1 }
  jobs.add({ parts: { job }, run: runs } as unknown as OpenJob)
  const log = (line: string) => void lines.push(line)
  const perform = performer({
    jobs,
    workers: {
      upstreamOf: (worker) => (worker === 'w' ? ({ id: 'w' } as never) : undefined),
      send() {},
      dismiss() {},
      ping() {},
    },
    fronts: { send() {}, gone() {} },
    fleet: { launch() {}, terminate() {} },
    functions: undefined,
    storingFor: (functions) => functions,
    metrics: undefined,
    overload: { amend: (answer) => answer },
    launchTroubles: [],
    launches: new Outage({ failed: (why) => why, works: String }, log),
    frontWorkers: new Set(),
    frontToken: 't',
    tell: (event) => events.push(event),
    log,
    ...parts,
  })
  return { perform, lines, events }
}

for (const [how, runs] of [
  [
    'throws',
    () => {
      throw new TypeError('broken')
    },
  ],
  ['rejects', () => Promise.reject(new TypeError('broken'))],
] as const) {
  test(`an attempt whose sending ${how} ends with a failure and a log line`, async () => {
    const { perform, lines, events } = trial(runs)
    perform(run)
    await Promise.resolve()
    await Promise.resolve()
    const message = 'internal error: broken'
    const failed = { type: 'failed', ...token, worker: 'w', kind: 'error', message, blameless: true }
    assert.deepEqual(events, [failed])
    assert.equal(lines.length, 1)
    assert.match(
      lines[0]!,
      /^job j: attempt 1 could not be sent to w: internal error: broken\nTypeError: broken\n/,
    )
  })
}

test('an attempt on an unknown worker or function fails at once', () => {
  const { perform, lines, events } = trial(() => assert.fail('it cannot be run'))
  perform({ ...run, worker: 'gone' })
  perform({ type: 'overflow', ...token, function: 'function:none', reason })
  assert.deepEqual(
    events.map((event) => event.type === 'failed' && [event.worker, event.kind]),
    [
      ['gone', 'unreachable'],
      ['function:none', 'unreachable'],
    ],
  )
  assert.match(lines[0]!, /^job j: attempt 1 could not be sent to gone: it is unknown$/)
})

test('an action that throws is logged, and the next ones are performed', () => {
  const launched: string[] = []
  const { perform, lines } = trial(() => undefined, {
    fleet: {
      launch(launch) {
        if (launch === '1') throw new Error('no')
        launched.push(launch)
      },
      terminate() {},
    },
  })
  for (const launch of ['1', '2']) perform({ type: 'launch', launch, reason })
  assert.deepEqual(launched, ['2'])
  assert.match(lines[0]!, /^internal error: launch of launch 1: Error: no\n/)
})
