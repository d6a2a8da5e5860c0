import assert from 'node:assert/strict'
import { open } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import type { RequestProblem } from '../problem.ts'
import { Body, type BodyOptions, headBytes } from './body.ts'
import { BodyBudget } from './body-budget.ts'

const kib = 1024

function arriving(length?: number) {
  const headers =
    length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': `${length}` }
  return Object.assign(new PassThrough({ highWaterMark: 1 }), { headers, rawTrailers: [] })
}

interface Setting extends Partial<BodyOptions> {
  budget?: BodyBudget
  length?: number
}

function start({
  budget = new BodyBudget({ memoryBytes: 1000 * kib, diskBytes: 1000 * kib }),
  length,
  ...rest
}: Setting = {}) {
  const request = arriving(length)
  const options = { maxBytes: 1000 * kib, memoryBytes: 100 * kib, ...rest }
  const body = new Body(request as unknown as IncomingMessage, options, budget)
  return { request, body, budget }
}

const bytesOf = (length: number) => Buffer.from(Array.from({ length }, (_, i) => (i * 31) & 255))

for (const length of [1, 100 * kib, 100 * kib + 1, 300 * kib]) {
  test(`a body of ${length} bytes can be read repeatedly, and its head at any time`, async () => {
    const { request, body, budget } = start()
    const bytes = bytesOf(length)
    for (let at = 0; at < length; at += 7_000) request.write(bytes.subarray(at, at + 7_000))
    request.end()
    for (let i = 0; i < 2; i++) assert.ok(bytes.equals(await body.read()))
    assert.ok(bytes.subarray(0, headBytes).equals(await body.head()))
    assert.ok(budget.memoryBytes + budget.diskBytes >= length)
    body.discard()
    assert.deepEqual([budget.memoryBytes, budget.diskBytes], [0, 0])
    await assert.rejects(body.read(), /discarded/)
  })
}

test('without memory even a short body goes to a file; without disk it is a 503', async () => {
  const budget = new BodyBudget({ memoryBytes: 0, diskBytes: 10 })
  const first = start({ budget })
  first.request.end('123456')
  assert.equal(Buffer.from(await first.body.read()).toString(), '123456')
  assert.deepEqual([budget.memoryBytes, budget.diskBytes], [0, 6])
  const second = start({ budget })
  second.request.write('12345')
  await assert.rejects(second.body.has(5), (problem: RequestProblem) => {
    assert.deepEqual([problem.status, problem.code], [503, 'bodies-full'])
    assert.equal(problem.headers['retry-after'], '12')
    return true
  })
  assert.throws(() => start({ budget, length: 5 }), { status: 503, code: 'bodies-full' })
  first.body.discard()
  assert.equal(budget.diskBytes, 0)
  assert.doesNotThrow(() => start({ budget, length: 5 }))
})

test('many small chunks do not exceed the memory of the budget', async () => {
  const budget = new BodyBudget({ memoryBytes: 2 * kib, diskBytes: 1000 * kib })
  const { request, body } = start({ budget })
  for (let i = 0; i < 100; i++) {
    request.write('a')
    await body.has(i + 1)
    assert.ok(budget.memoryBytes <= 2 * kib)
  }
  request.end()
  assert.equal(Buffer.from(await body.read()).toString(), 'a'.repeat(100))
  assert.equal(budget.diskBytes, 100)
  body.discard()
})

test('a full disk is a 507 for this request only, and the operator is told once', async () => {
  const lines: string[] = []
  const budget = new BodyBudget({ memoryBytes: 0, diskBytes: kib, log: (line) => lines.push(line) })
  const told: unknown[] = []
  for (let i = 0; i < 2; i++) {
    // The system itself answers every write to this file with ENOSPC.
    const { request, body } = start({ budget, openFile: () => open('/dev/full', 'r+') })
    body.onBroken((problem) => told.push(problem?.status))
    request.write('12345')
    await assert.rejects(body.has(5), { status: 507, code: 'body-not-stored', message: /disk .* is full/ })
  }
  const { request, body } = start({ budget })
  request.end('12345')
  assert.equal((await body.read()).length, 5)
  body.discard()
  assert.deepEqual(told, [507, 507])
  assert.equal(lines.length, 2)
  assert.match(lines[0]!, /^front: request bodies cannot be stored in .* \(ENOSPC\)$/)
  assert.equal(lines[1], 'front: request bodies can be stored again')
  assert.equal(budget.diskBytes, 0)
})

test('a disk that turns out to be full while the last chunks are written is a 507', async () => {
  const { request, body, budget } = start({ memoryBytes: 0, openFile: () => open('/dev/full', 'r+') })
  request.write('12345')
  await body.has(5)
  request.end('6')
  await assert.rejects(body.read(), { status: 507 })
  assert.equal(budget.diskBytes, 0)
})

test('a file that cannot be opened is a 503', async () => {
  const { request, body } = start({
    memoryBytes: 0,
    openFile: () => Promise.reject(Object.assign(new Error(), { code: 'EMFILE' })),
  })
  request.write('12345')
  await assert.rejects(body.has(5), { status: 503, code: 'body-not-stored', message: /EMFILE/ })
})

test('a slow body is ended when another needs its space', async () => {
  let ms = 0
  const budget = new BodyBudget({ memoryBytes: 0, diskBytes: 100, now: () => ms })
  const slow = start({ budget })
  slow.request.write('1'.repeat(60))
  await slow.body.has(60)
  ms += 10_000
  const { request, body } = start({ budget })
  const ended = assert.rejects(slow.body.has(61), { status: 408, code: 'too-slow' })
  request.end('2'.repeat(50))
  assert.equal((await body.read()).length, 50)
  await ended
  assert.equal(budget.diskBytes, 50)
  body.discard()
})

test('a body that is discarded while it arrives keeps nothing', async () => {
  const { request, body, budget } = start({ memoryBytes: 0 })
  request.write('1'.repeat(60))
  body.discard()
  request.end('2'.repeat(60))
  await body.has(Infinity)
  assert.deepEqual([body.bytes, budget.diskBytes], [120, 0])
})
