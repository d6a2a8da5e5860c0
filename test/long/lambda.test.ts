/** A live cluster whose overflow goes to Lambda functions that run the same workloads, metered alike. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Estimator } from '../../src/estimate/estimator.ts'
import { lambdaProvider } from '../../src/lambda/functions.ts'
import { createHandler, type Measurement } from '../../src/lambda/handler.ts'
import { insideFunction } from '../stands/lambda/inside.ts'
import { useLambda } from '../support/lambda.ts'
import { fixtures, type Live, open, startLive, stopLive, until, untilIdle } from '../support/live.ts'

const told: Estimator = {
  estimate: () => ({
    ...{ work: 1_000_000, low: 1_000_000, high: 1_000_000, source: 'prior', reason: { code: 'fixed' } },
    memoryMb: 1,
  }),
  learn() {},
}

interface Stand {
  live: Live
  stand: Awaited<ReturnType<typeof useLambda>>
  measured: Measurement[]
  first: Promise<Response>
}

/** A cluster with one worker, which is busy. */
async function busy(t: TestContext): Promise<Stand> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-lambda-'))
  const measured: Measurement[] = []
  const store = { store: async (measurement: Measurement) => void measured.push(measurement) }
  const ended = new AbortController()
  const { signal } = ended
  const boot = () => createHandler({ workloads: [fixtures], memoryMb: 320, dataDir, store, signal })
  const stand = await useLambda(t, { f: insideFunction(boot, { boots: true, timeoutMs: 20_000 }) })
  const live = await startLive({
    ...{ estimator: told, scheduler: 'least-connections', discipline: 'fifo', slots: 1, pricePerHour: 0.1 },
    functions: {
      most: 2,
      command: [],
      provider: lambdaProvider('f'),
      waitingPerHour: 1000,
      brain: { coldMs: 0 },
      patienceMs: 20_000,
    },
  })
  t.after(async () => {
    await stopLive(live)
    ended.abort()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const first = fetch(`${live.url}/gated?gate=first`)
  await until(() => live.state().placed === 1, 'the worker is busy')
  return { live, stand, measured, first }
}

test('a job that would queue is answered by Lambda, metered and recorded', async (t) => {
  const { live, stand, measured, first } = await busy(t)
  const answer = await fetch(`${live.url}/strict?n=21`)
  assert.equal(await answer.text(), '42')
  assert.equal(answer.headers.get('plimsoll-worker'), 'function:lambda')
  const work = Number(answer.headers.get('plimsoll-work'))
  assert.ok(work > 0)
  await live.ledger.flush()
  const [row] = await live.ledger.recent({ workload: 'strict', limit: 1 })
  assert.deepEqual([row?.worker, row?.work], ['function:lambda', work])
  // The function has stored its measurement before it answered.
  assert.deepEqual(
    measured.map(({ workload, params, work: stored }) => [workload, params, stored]),
    [['strict', { n: '21' }, work]],
  )
  const body = Buffer.alloc(700_000, 'plimsoll')
  const mirrored = await fetch(`${live.url}/mirror`, { method: 'POST', body })
  assert.equal(mirrored.headers.get('plimsoll-worker'), 'function:lambda')
  assert.deepEqual(Buffer.from(await mirrored.arrayBuffer()), body)
  assert.equal(stand.counts.invocations, 2)
  open(live, 'first')
  await first
})

test('what does not fit into a function runs on a worker, and so does what a function fails', async (t) => {
  const { live, stand, first } = await busy(t)
  const long = fetch(`${live.url}/mirror`, { method: 'POST', body: Buffer.alloc(6_000_000, 'x') })
  await until(() => live.state().counters.retries === 1, 'a function has given it back')
  assert.equal(stand.counts.invocations, 0)
  stand.faults.push({ status: 500, type: 'ServiceException', message: 'internal' })
  const failed = fetch(`${live.url}/strict?n=1`)
  await until(() => live.state().counters.retries === 2, 'a function has failed it')
  open(live, 'first')
  assert.equal(await (await first).text(), 'opened')
  for (const answer of [await long, await failed]) {
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('plimsoll-attempts'), '2')
    assert.notEqual(answer.headers.get('plimsoll-worker'), 'function:lambda')
  }
  await untilIdle(live)
  assert.ok(
    live.lines.some((line) =>
      line.includes('lambda:InvokeFunction on function f: ServiceException: internal'),
    ),
  )
})
