/** Overload of a live cluster: steps from given readings, and their effects, in `status`, metrics and log. */

import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { statusText } from '../../src/cli/status.ts'
import type { Readings } from '../../src/front/overload/steps.ts'
import type { ClusterOptions } from '../../src/live/cluster.ts'
import { replay } from '../../src/simulate/replay.ts'
import { startFront } from '../support/front-processes.ts'
import { assertWell, problemOf, startLive, stopLive, storyOf, until, untilIdle } from '../support/live.ts'

/** A cluster whose main process has these readings. */
async function overloadable(t: TestContext, options: Partial<ClusterOptions> = {}) {
  const load = { readings: {} as Readings }
  const live = await startLive({ overload: { read: () => load.readings, close() {} }, ...options })
  t.after(() => stopLive(live))
  const becomes = async (readings: Readings, step: number) => {
    load.readings = readings
    await until(() => live.state().overload.step === step, `step ${step} is reached`)
  }
  return { live, becomes }
}

test('in step 2 requests are shed by predicted work and share, with 503 and Retry-After', async (t) => {
  const { live, becomes } = await overloadable(t)
  await assertWell(live)
  await becomes({ memory: 0.949, loop: 12 }, 2)
  const problem = await problemOf(fetch(`${live.url}/strict?n=21`), 503)
  assert.equal(problem.code, 'overloaded')
  assert.match(problem.headers.get('retry-after')!, /^[5-7]$/)
  // Built-in paths are served.
  assert.equal((await fetch(`${live.url}/-/health`)).status, 200)
  const text = statusText(live.state())
  assert.match(
    text,
    /overload {2}main process: step 2 of 3, sheds the most expensive requests: memory is at 95 % of/,
  )
  assert.match(text, /1 request shed/)
  const metrics = await (await fetch(`${live.adminUrl}/metrics`)).text()
  assert.match(metrics, /^plimsoll_overload_step\{process="main"\} 2$/m)
  assert.match(metrics, /^plimsoll_event_loop_delay_seconds\{process="main"\} 0\.012$/m)
  assert.match(metrics, /^plimsoll_overload_shed_total\{process="main"\} 1$/m)
  assert.match(metrics, /^plimsoll_jobs_ended_total\{outcome="result"\} 1$/m)
  await becomes({ memory: 0.1 }, 0)
  await assertWell(live)
  const told = live.lines.filter((line) => line.startsWith('overload: step'))
  assert.deepEqual(
    told.map((line) => /step \d/.exec(line)![0]),
    ['step 2', 'step 1', 'step 0'],
  )
  await untilIdle(live)
})

test('a shed request has a story, and a log with it replays', async (t) => {
  const eventLog = join(tmpdir(), `plimsoll-overload-${process.pid}.log`)
  t.after(() => rmSync(eventLog, { force: true }))
  const { live, becomes } = await overloadable(t, { eventLog })
  await assertWell(live)
  await becomes({ memory: 0.949, loop: 12 }, 2)
  const { detail, headers } = await problemOf(fetch(`${live.url}/strict?n=21`), 503)
  // The numbers are for the operator.
  assert.equal(detail, 'The cluster is overloaded; try again later.')
  assert.match(
    await storyOf(live, headers),
    /the cluster is overloaded \(pressure 99 %\) and\s+sheds the most\s+expensive\s+100 %/,
  )
  await stopLive(live)
  const log = readFileSync(eventLog, 'utf8')
  assert.match(log, /"pressure":0\.98\d*.*"code":"overloaded"/)
  assert.equal((await replay(log.split('\n'))).difference, undefined)
})

test('a front in another process sheds and reports too', async (t) => {
  const { live } = await overloadable(t, { frontLimits: { processMb: 1 } })
  const front = await startFront(t, live)
  await until(() => live.state().fronts[1]?.overload?.step === 3, 'the front is overloaded')
  await assert.rejects(fetch(`${front.url}/strict?n=21`).then((answer) => problemOf(answer, 200)))
  assert.match(
    front.said(),
    /overload: step 3 of 3, refuses new connections: memory is at \d+ % of its limit/,
  )
  assert.match(statusText(live.state()), /overload {2}front \S+: step 3 of 3, refuses new connections/)
  // The main process has readings of its own.
  assert.equal(live.state().overload.step, 0)
  await assertWell(live)
})
