/** The store of jobs behind a proxy that throttles calls and loses answers. `dynamodb.ts` starts the server and runs this file. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { StoreError } from '../../../src/lib/errors.ts'
import { stream } from '../../../src/lib/random.ts'
import { openJobStore } from '../../../src/store/open-store.ts'
import type { JobStore } from '../../../src/store/store.ts'
import {
  answerOf,
  bytesOf,
  epochOf,
  idsOf,
  keepAll,
  newJob,
  range,
  rejectsWith,
} from '../../../src/store/testing/samples.ts'

const behind = process.env.PLIMSOLL_DYNAMODB ?? ''

type Fault = 'none' | 'throttled' | 'lost-request' | 'lost-answer'

/** What becomes of a call, by its action. */
type Choose = (action: string) => Fault

interface Proxy {
  store: JobStore
  faults: Record<Fault, number>
  /** From now on. */
  choose(next: Choose): void
}

async function proxied(t: TestContext): Promise<Proxy> {
  const faults: Record<Fault, number> = { none: 0, throttled: 0, 'lost-request': 0, 'lost-answer': 0 }
  let choose: Choose = () => 'none'
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request))
    const fault = choose(String(request.headers['x-amz-target']).split('.')[1]!)
    faults[fault]++
    if (fault === 'throttled')
      return response
        .writeHead(400, { 'content-type': 'application/x-amz-json-1.0' })
        .end('{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}')
    if (fault === 'lost-request') return request.socket.destroy()
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
    const answer = await fetch(behind, { method: 'POST', headers: headers as Record<string, string>, body })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (fault === 'lost-answer') return request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(bytes)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const endpoint = `http://127.0.0.1:${port}`
  const store = await openJobStore(`dynamodb://test-${randomUUID()}?region=eu-central-1&endpoint=${endpoint}`)
  t.after(async () => {
    choose = () => 'none'
    await store.close()
    server.closeAllConnections()
    server.close()
  })
  return { store, faults, choose: (next) => (choose = next) }
}

/** As the keeper does. */
async function untilKnown<T>(write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'STORE_UNKNOWN') throw error
    }
  }
}

test('jobs are accepted and end once although calls are throttled and answers are lost', async (t) => {
  const { store, faults, choose } = await proxied(t)
  const epoch = await epochOf(store)
  const random = stream(24, 'faults')
  choose(() => {
    const drawn = random.next()
    return drawn < 0.1 ? 'throttled' : drawn < 0.15 ? 'lost-request' : drawn < 0.25 ? 'lost-answer' : 'none'
  })
  const job = (number: number) =>
    newJob(number, {
      idempotency: { key: `${number}`, fingerprint: 'same' },
      body: Buffer.alloc(number % 10 === 0 ? 500_000 : 100, `${number}`),
    })
  await Promise.all(
    range(100).map(async (number) => {
      const { kind } = await untilKnown(() => store.accept(epoch, job(number)))
      assert.equal(kind, 'accepted')
      if (number % 2 === 0) await untilKnown(() => store.answer(epoch, `job-${number}`, answerOf(number)))
    }),
  )
  choose(() => 'none')
  assert.ok(faults.throttled >= 5 && faults['lost-answer'] >= 5, JSON.stringify(faults))
  const open = await idsOf(store.open())
  assert.deepEqual(
    open.toSorted(),
    range(100)
      .filter((number) => number % 2 === 1)
      .map((number) => `job-${number}`)
      .toSorted(),
  )
  for (const number of range(100)) {
    const content = Buffer.alloc(number % 10 === 0 ? 500_000 : 100, `${number}`)
    assert.ok((await bytesOf(await store.body(`job-${number}`))).equals(content), `body ${number}`)
    assert.equal((await store.byKey('client', `${number}`))?.id, `job-${number}`)
    if (number % 2 === 0)
      assert.equal(`${await bytesOf((await store.result(`job-${number}`))?.body)}`, `result ${number}`)
  }
})

test('a lease is taken and renewed once although every first answer is lost', async (t) => {
  const { store, choose } = await proxied(t)
  let calls = 0
  choose((action) => (action === 'UpdateItem' && calls++ % 2 === 0 ? 'lost-answer' : 'none'))
  const lease = await store.lead('first', 60_000)
  assert.ok(lease)
  assert.equal(await lease.renew(60_000), true)
  assert.equal(await lease.renew(60_000), true)
  assert.equal(await store.lead('second', 60_000), undefined)
  await lease.release()
  assert.ok(((await store.lead('second', 60_000))?.epoch ?? 0) > lease.epoch)
})

test('a write that is never answered is unknown, and one that is always throttled was not done', async (t) => {
  const { store, choose } = await proxied(t)
  const epoch = await epochOf(store)
  choose((action) => (action === 'TransactWriteItems' ? 'lost-answer' : 'none'))
  await rejectsWith(
    store.accept(epoch, newJob(1)),
    'STORE_UNKNOWN',
    /dynamodb:TransactWriteItems on table test-.* in eu-central-1: DynamoDB did not answer/,
  )
  choose((action) => (action === 'TransactWriteItems' ? 'throttled' : 'none'))
  await rejectsWith(store.accept(epoch, newJob(2)), 'STORE', /DynamoDB throttles it\. Raise the capacity/)
  choose(() => 'none')
  assert.deepEqual(await store.accept(epoch, newJob(1)), { kind: 'accepted' })
  assert.deepEqual(await idsOf(store.open()), ['job-1'])
})

test('parts of a body whose job was never accepted are removed by the next leader', async (t) => {
  const { store, choose } = await proxied(t)
  const epoch = await epochOf(store)
  choose((action) =>
    ['TransactWriteItems', 'DeleteItem', 'BatchWriteItem'].includes(action) ? 'lost-request' : 'none',
  )
  await rejectsWith(
    store.accept(epoch, newJob(1, { body: Buffer.alloc(900_000) })),
    'STORE_UNKNOWN',
    /did not answer/,
  )
  const removed: string[] = []
  choose((action) => {
    removed.push(action)
    return 'none'
  })
  await store.sweep(await epochOf(store), 0, keepAll)
  assert.deepEqual(
    removed.filter((action) => ['BatchWriteItem', 'DeleteItem'].includes(action)),
    ['BatchWriteItem', 'DeleteItem'],
  )
  removed.length = 0
  await store.sweep(await epochOf(store), 0, keepAll)
  assert.ok(!removed.includes('DeleteItem'))
})
