import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import test, { type TestContext } from 'node:test'
import { readShortBody } from './short-body.ts'

const head = 'POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 6\r\n\r\n'

/** Sends the head, and returns what then becomes of the body. */
async function serve(t: TestContext, first: string) {
  const server = createServer({ highWaterMark: 2 })
  // As the fast path does.
  server.on('connection', (socket) => {
    Object.assign((socket as unknown as { _readableState: object })._readableState, { highWaterMark: 0 })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => {
    client.destroy()
    server.close()
  })
  client.on('error', () => {}).write(first)
  const [request] = (await once(server, 'request')) as [IncomingMessage]
  const body = new Promise<Buffer | undefined>((resolve) => readShortBody(request, resolve))
  return { client, request, body }
}

test('a body is read however it is divided, and read again afterwards', async (t) => {
  for (const pieces of [['abcdef'], ['', 'abcdef'], ['a', 'bc', 'def'], ['abcde', 'f']]) {
    const { client, request, body } = await serve(t, head + pieces[0])
    for (const piece of pieces.slice(1)) {
      await new Promise(setImmediate)
      client.write(piece)
    }
    assert.equal(`${await body}`, 'abcdef')
    assert.equal((await request.toArray()).join(''), 'abcdef')
    assert.equal(request.complete, true)
  }
})

test('an empty body needs nothing to arrive', async (t) => {
  const { request, body } = await serve(t, head.replace('6', '0'))
  assert.equal((await body)?.length, 0)
  assert.deepEqual(await request.toArray(), [])
})

test('of a body that does not arrive within 100 ms, what has arrived is left in the request', async (t) => {
  for (const begun of ['', 'abc']) {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { client, request, body } = await serve(t, head + begun)
    while (request.readableLength === 0 && begun !== '') await new Promise(setImmediate)
    await new Promise(setImmediate)
    t.mock.timers.tick(100)
    assert.equal(await body, undefined)
    t.mock.timers.reset()
    client.write('abcdef'.slice(begun.length))
    assert.equal((await request.toArray()).join(''), 'abcdef')
  }
})

test('a client that disconnects has no body', async (t) => {
  const { client, body } = await serve(t, `${head}abc`)
  client.destroy()
  assert.equal(await body, undefined)
})
