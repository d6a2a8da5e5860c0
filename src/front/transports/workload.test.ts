import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import test from 'node:test'
import type { AttemptHead } from '../../wire/messages.ts'
import type { Receiver } from '../receiver.ts'
import type { Body } from '../request/body.ts'
import type { Carried } from './transport.ts'
import { WorkloadTransport } from './workload.ts'

/** Sends one attempt and returns what the worker receives. */
async function sent(transport: WorkloadTransport, attempt: number): Promise<{ head: string; body: string }> {
  const content = Promise.withResolvers<{ headers: Record<string, string>; body: unknown }>()
  const dispatcher = {
    dispatch(
      options: { headers: Record<string, string>; body: unknown },
      handler: { onResponseError(controller: undefined, error: Error): void },
    ) {
      content.resolve(options)
      handler.onResponseError(undefined, new Error('no worker'))
    },
  }
  const order = { epoch: 1, job: 'j', attempt, workload: 'w', work: 1, preemptible: true, ask: false }
  const { signal } = new AbortController()
  const carried = { upstream: { dispatcher }, order, token: 't', signal } as unknown as Carried
  await assert.rejects(transport.carry(carried), /no worker/)
  const { headers, body } = await content.promise
  const bytes = Buffer.isBuffer(body) ? body : await buffer(body as AsyncIterable<Buffer>)
  const headBytes = Number(headers['plimsoll-head-bytes'])
  return { head: bytes.toString('utf8', 0, headBytes), body: bytes.toString('utf8', headBytes) }
}

const bodyOf = (...chunks: string[]) =>
  ({
    bytes: chunks.join('').length,
    async *open() {
      for (const chunk of chunks) yield Buffer.from(chunk)
    },
  }) as unknown as Body

const receiver = { attempted() {} } as Receiver

test('each attempt carries the text of the parameters as it is', async () => {
  const source = bodyOf('  {"a"', ' : 1e400', '}')
  const start = Buffer.from('{"b":"2",')
  const transport = new WorkloadTransport({
    ...{ params: { start, bodyFrom: 3, source }, body: undefined, receiver, quantities: [] },
  })
  for (const attempt of [1, 2]) {
    const { head, body } = await sent(transport, attempt)
    assert.ok(head.endsWith(',"params":{"b":"2","a" : 1e400}}'), head)
    const { params, ...order } = JSON.parse(head) as AttemptHead
    assert.deepEqual([order.attempt, order.workload, params], [attempt, 'w', { b: '2', a: Infinity }])
    assert.equal(body, '')
  }
})

test('a body of data follows the parameters', async () => {
  const data = bodyOf('da', 'ta')
  const start = Buffer.from('{"b":"2"}')
  const transport = new WorkloadTransport({
    ...{ params: { start, source: data }, body: data, receiver, quantities: [] },
  })
  for (const attempt of [1, 2]) {
    const { head, body } = await sent(transport, attempt)
    assert.deepEqual((JSON.parse(head) as AttemptHead).params, { b: '2' })
    assert.equal(body, 'data')
  }
})
