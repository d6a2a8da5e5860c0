import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import test from 'node:test'
import type { Dispatcher } from 'undici'
import type { Quantity } from '../../model/metering.ts'
import { type AttemptHead, headers } from '../../wire/messages.ts'
import type { WholeAnswer } from '../../wire/whole-answer.ts'
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

const mb = Buffer.alloc(1024 * 1024, 'a')

/** A worker that answers with this body, and reports its cost in the trailers. */
function answering(body: () => AsyncGenerator<Buffer>, streamed = false): Carried {
  const fields = { [headers.outcome]: 'result', ...(streamed && { [headers.streamed]: '1' }) }
  const trailers = { 'x-steps': '7', [headers.work]: '7' }
  const controller = { pause() {}, resume() {}, abort() {} } as unknown as Dispatcher.DispatchController
  const dispatch = async (_options: unknown, handler: Required<Dispatcher.DispatchHandler>) => {
    handler.onRequestStart(controller, {})
    handler.onResponseStart(controller, 200, fields)
    try {
      for await (const chunk of body()) handler.onResponseData(controller, chunk)
      handler.onResponseEnd(controller, trailers)
    } catch (error) {
      handler.onResponseError(controller, error as Error)
    }
  }
  return {
    ...{ upstream: { dispatcher: { dispatch } }, token: 't', signal: new AbortController().signal },
    order: { epoch: 1, job: 'j', attempt: 1, workload: 'w', work: 1, preemptible: true, ask: false },
    ...{ isCurrent: () => true, answering() {}, account: () => ({}) },
  } as unknown as Carried
}

async function* breaking(): AsyncGenerator<Buffer> {
  yield mb
  throw Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
}

async function* complete(): AsyncGenerator<Buffer> {
  yield mb
  yield mb
}

/** A client that allows answers of this size to be held. */
function clientOf(mostHeld: number) {
  const log: string[] = []
  const client = {
    ...{ takesStreams: true, attempted() {} },
    mayHold: (bytes: number) => bytes <= mostHeld,
    deliver({ body, fields }: WholeAnswer) {
      log.push(`${body.length} bytes, ${fields['content-length']} announced, ${fields['x-steps']} steps`)
    },
    begin() {
      log.push('begun')
      return { write: () => undefined, end() {} }
    },
  } as unknown as Receiver
  const transport = new WorkloadTransport({
    ...{ params: { start: Buffer.from('{}'), source: bodyOf() }, body: undefined, receiver: client },
    quantities: [{ name: 'steps', header: 'x-steps' } as Quantity],
  })
  return { transport, log }
}

test('a long answer whose worker fails halfway has not begun, so that another attempt can replace it', async () => {
  const { transport, log } = clientOf(2 * mb.length)
  await assert.rejects(transport.carry(answering(breaking)), { code: 'UND_ERR_SOCKET' })
  assert.equal(transport.begun, false)
  const end = await transport.carry(answering(complete))
  assert.equal(end?.outcome, 'result')
  transport.deliver({})
  assert.deepEqual(log, ['2097152 bytes, 2097152 announced, 7 steps'])
})

test('an answer that may not be held, or that its workload streams, begins at once', async () => {
  for (const [mostHeld, streamed] of [
    [mb.length - 1, false],
    [Infinity, true],
  ] as const) {
    const { transport, log } = clientOf(mostHeld)
    await assert.rejects(transport.carry(answering(breaking, streamed)), { code: 'UND_ERR_SOCKET' })
    assert.deepEqual([transport.begun, log], [true, ['begun']])
  }
})
