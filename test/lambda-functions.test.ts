/** Lambda as a provider of functions: the real SDK against a Lambda service on loopback. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Invocation } from '../src/lambda/invocation.ts'
import { insideFunction } from './stands/lambda/inside.ts'
import { openFunctions, sendTo, useLambda } from './support/lambda.ts'
import { until } from './support/live.ts'

const answered = ({ head, body }: Invocation) => ({
  status: 200,
  headers: { 'plimsoll-outcome': 'result', 'plimsoll-work': '7', 'content-type': 'text/plain' },
  body: Buffer.from(`${head.workload}: ${Buffer.from(body, 'base64')}`).toString('base64'),
})

async function open(t: TestContext, handler: (event: Invocation) => unknown, more = {}) {
  const stand = await useLambda(t, { f: insideFunction(handler, more) })
  return { stand, ...openFunctions(t, 'f') }
}

test('a front reaches a Lambda function as it reaches a worker', async (t) => {
  let event: Invocation | undefined
  const { functions } = await open(t, (each) => {
    event = each
    return answered(each)
  })
  const sent = await sendTo(functions, 'echo')
  assert.ok('body' in sent)
  assert.equal(sent.body, 'echo: body')
  assert.equal(sent.fields['plimsoll-work'], '7')
  assert.equal(event?.code, 'hash')
  assert.deepEqual(functions.list(), [])
})

test('a function is told to stop when nobody waits for it any more', async (t) => {
  const limits: number[] = []
  const stand = await useLambda(t, {
    f: insideFunction((event: Invocation) => {
      limits.push(event.limitMs)
      return answered(event)
    }),
  })
  assert.ok(stand)
  const { functions } = openFunctions(t, 'f', { patienceMs: 500, workPerSecond: 1000 })
  await sendTo(functions, 'echo', Buffer.alloc(0), { work: 10 })
  await sendTo(functions, 'echo', Buffer.alloc(0), { work: 10, high: 200 })
  await sendTo(functions, 'echo', Buffer.alloc(0), { work: 1e9 })
  assert.deepEqual(limits, [500, 2_000, 60_000])
})

test('CN-6 throttled, refused and late invocations are told apart', async (t) => {
  const { stand } = await open(t, answered)
  const { functions } = openFunctions(t, 'f', { patienceMs: 1 })
  stand.faults.push(
    { status: 429, type: 'TooManyRequestsException', message: 'Rate Exceeded.' },
    { status: 503, type: 'ServiceException', message: 'Service unavailable' },
    'silent',
  )
  const outcomes = []
  for (let i = 0; i < 3; i++) outcomes.push((await sendTo(functions, 'echo')).outcome)
  assert.deepEqual(outcomes, ['throttled', 'refused', 'timeout'])
  assert.equal(stand.counts.invocations, 0)
  // The SDK did not retry by itself.
  assert.deepEqual(stand.faults, [])
})

test('reserved concurrency throttles, and so does the limit of the cluster', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { stand, functions } = await open(t, (event) => gate.promise.then(() => answered(event)), {
    concurrency: 1,
  })
  const first = sendTo(functions, 'echo')
  await until(() => stand.counts.invocations === 1, 'the first runs')
  const second = await sendTo(functions, 'echo')
  assert.deepEqual([second.outcome, stand.counts.throttled], ['throttled', 1])
  const { functions: narrow } = openFunctions(t, 'f', {
    limits: { concurrency: 1, memoryMb: 512, timeoutMs: 60_000, keepWarmMs: 60_000 },
  })
  const held = narrow.invoke('echo', new AbortController().signal, () => gate.promise.then(() => undefined))
  const third = await sendTo(narrow, 'echo')
  assert.match((third as { message: string }).message, /^all 1 functions are busy$/)
  gate.resolve()
  assert.equal((await first).outcome, 'result')
  await held
})

test('a request that is too long for Lambda stays on workers without an invocation', async (t) => {
  const { stand, functions } = await open(t, answered)
  for (const bytes of [4_800_000, 7_000_000]) {
    const sent = await sendTo(functions, 'echo', Buffer.alloc(bytes))
    assert.equal(sent.outcome, 'limit')
    assert.match(
      (sent as { message: string }).message,
      /does not fit into an invocation of 6 MB: workers run it/,
    )
  }
  assert.equal(stand.counts.invocations, 0)
  assert.equal((await sendTo(functions, 'echo', Buffer.alloc(4_600_000))).outcome, 'result')
})

test('an answer that is too long for Lambda moves the job to a worker', async (t) => {
  const { functions } = await open(t, () => 'x'.repeat(7_000_000))
  assert.equal((await sendTo(functions, 'echo')).outcome, 'limit')
})

test('a function that fails, or is none of ours, is reported once and gives its jobs back', async (t) => {
  let works = false
  const { functions, lines } = await open(t, (event) => {
    if (works) return answered(event)
    throw new RangeError('no such table')
  })
  for (let i = 0; i < 2; i++)
    await assert.rejects(sendTo(functions, 'echo'), /Lambda function f: RangeError: no such table/)
  works = true
  await sendTo(functions, 'echo')
  assert.deepEqual(lines, [
    'functions: Lambda function f: RangeError: no such table',
    'functions: work again, after 2 failed attempts',
  ])
  const other = await open(t, () => ({ statusCode: 200 }))
  await assert.rejects(sendTo(other.functions, 'echo'), /f: does not answer as plimsoll\/lambda does/)
})

test('functions that are missing are reported before the first job', async (t) => {
  await useLambda(t, { f: insideFunction(answered) })
  const { lines, functions } = openFunctions(t, 'echo=f,other=g')
  await until(() => lines.length > 0, 'the check has ended')
  assert.deepEqual(lines, [
    'functions: lambda:InvokeFunction on function g: the account has no such function in this region (ResourceNotFoundException: Function not found: arn:aws:lambda:eu-central-1:123456789012:function:g)',
  ])
  await assert.rejects(
    sendTo(functions, 'third'),
    /--lambda-functions: names no function for the workload third/,
  )
})

test('a client that leaves ends the call', async (t) => {
  const { stand, functions } = await open(t, () => new Promise(() => {}))
  const abort = new AbortController()
  const sent = sendTo(functions, 'echo', Buffer.alloc(0), {}, abort.signal)
  await until(() => stand.counts.invocations === 1, 'it runs')
  abort.abort(new Error('gone'))
  await assert.rejects(sent)
  assert.deepEqual(functions.list(), [])
})
