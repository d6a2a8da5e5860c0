import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import type { Dispatcher } from 'undici'
import { dispatchAttempt } from './dispatch.ts'
import { closeUpstream, upstreamAt } from './upstream.ts'
import { bodyOf } from './worker-response.ts'

/** Sends one attempt to a worker that answers like this. */
async function send(t: TestContext, answer: (response: ServerResponse, body: string) => void) {
  const server = createServer(async (request, response) => {
    answer(response, Buffer.concat(await request.toArray()).toString())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const upstream = upstreamAt('w', { host: '127.0.0.1', port }, 'token')
  t.after(() => {
    closeUpstream(upstream)
    server.closeAllConnections()
    server.close()
  })
  const abort = new AbortController()
  const order = { upstream, token: 'token', signal: abort.signal }
  return { abort, ...dispatchAttempt(order, { headBytes: 2, content: Buffer.from('{}body') }) }
}

test('a response arrives with its headers, body and trailers', async (t) => {
  const { response } = await send(t, (answer, body) => {
    answer.writeHead(201, { 'x-many': ['1', '2'], trailer: 'x-sum' })
    answer.write(body)
    answer.addTrailers({ 'x-sum': '5' })
    answer.end('!')
  })
  const received = await response
  assert.deepEqual([received.status, received.headers['x-many']], [201, ['1', '2']])
  assert.equal(`${await bodyOf(received)}`, '{}body!')
  assert.deepEqual({ ...received.trailers }, { 'x-sum': '5' })
})

for (const [when, later] of [
  ['in a later turn', setImmediate],
  ['at once', queueMicrotask],
] as const)
  test(`nothing arrives while a response is paused, and all of it if it is resumed ${when}`, async (t) => {
    const bytes = 4 * 1024 * 1024
    const { response } = await send(t, (answer) => answer.end(Buffer.alloc(bytes)))
    const received = await response
    const ended = Promise.withResolvers<void>()
    let paused = false
    let total = 0
    received.read({
      data(chunk) {
        assert.equal(paused, false)
        assert.ok(chunk.length > 0)
        total += chunk.length
        paused = true
        received.pause()
        later(() => {
          paused = false
          received.resume()
        })
      },
      end: ended.resolve,
      failed: ended.reject,
    })
    await ended.promise
    assert.equal(total, bytes)
  })

test('an attempt that is cancelled before its response breaks off with the reason', async (t) => {
  const { abort, response } = await send(t, () => abort.abort(new Error('cancelled')))
  await assert.rejects(response, /cancelled/)
})

test('an attempt that is cancelled during its response breaks off with the reason', async (t) => {
  const { abort, response } = await send(t, (answer) => answer.write('part'))
  const body = bodyOf(await response)
  abort.abort(new Error('cancelled'))
  await assert.rejects(body, /cancelled/)
})

test('a response that breaks off fails', async (t) => {
  const { response } = await send(t, (answer) => answer.write('part', () => answer.destroy()))
  await assert.rejects(async () => bodyOf(await response))
})

/** A worker with these connections. */
const upstreamWith = (dispatch: (handler: Dispatcher.DispatchHandler) => void) =>
  ({
    dispatcher: { dispatch: (_: unknown, handler: Dispatcher.DispatchHandler) => dispatch(handler) },
  }) as never

const content = { headBytes: 2, content: Buffer.from('{}') }
const { signal } = new AbortController()

test('EW-8 an attempt without a connection in time has not reached its worker', async () => {
  let late: Dispatcher.DispatchHandler | undefined
  const upstream = upstreamWith((handler) => {
    late = handler
  })
  const { response } = dispatchAttempt({ upstream, token: 'token', signal, connectMs: 5 }, content)
  await assert.rejects(response, { code: 'ETIMEDOUT', message: 'no connection within 5 ms' })
  // If the connection comes after all, nothing is sent.
  const aborted = Promise.withResolvers<Error>()
  late!.onRequestStart!({ abort: aborted.resolve } as never, {})
  assert.match((await aborted.promise).message, /no connection/)
})

test('EW-8 with a connection, the limit for connecting is over', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const upstream = upstreamWith((handler) => handler.onRequestStart!({ abort() {} } as never, {}))
  const { response } = dispatchAttempt({ upstream, token: 'token', signal, connectMs: 5 }, content)
  t.mock.timers.tick(1000)
  assert.equal(await Promise.race([response, 'nothing']), 'nothing')
})
