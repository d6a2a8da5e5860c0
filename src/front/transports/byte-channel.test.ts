import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { ReadBuffers } from '../../lib/read-buffers.ts'
import { ByteChannel } from './byte-channel.ts'

const body = Buffer.from(Array.from({ length: 1_500_000 }, (_, i) => (i * 7) % 253))
const switching = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: plimsoll-channel\r\n\r\n'

interface Opened {
  channel: ByteChannel
  /** The worker's end. */
  worker: Socket
  /** What the front has sent. */
  request: string
  held: Buffer[]
  abort: AbortController
}

async function open(t: TestContext, bytes = body.length): Promise<Opened> {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connected = once(server, 'connection')
  const held: Buffer[] = []
  const abort = new AbortController()
  const channel = new ByteChannel({
    ...{ address: { host: '127.0.0.1', port }, token: 'secret', ticket: 'abc', bytes },
    ...{ buffers: new ReadBuffers(), signal: abort.signal },
    held: (chunk) => held.push(chunk),
  })
  t.after(() => channel.close())
  const [worker] = (await connected) as [Socket]
  t.after(() => worker.destroy())
  worker.on('error', () => {})
  const [request] = await once(worker, 'data')
  return { channel, worker, request: String(request), held, abort }
}

/** A client that takes each chunk a moment later. */
function client() {
  const got: Buffer[] = []
  return {
    got,
    pass(chunk: Buffer, taken: () => void) {
      setImmediate(() => {
        got.push(Buffer.from(chunk))
        taken()
      })
    },
    keep() {},
    end: () => assert.fail('the caller ends the answer'),
    breakOff: () => assert.fail('the caller breaks the answer off'),
  }
}

test('a channel names its ticket and its token', async (t) => {
  const { request } = await open(t)
  assert.match(request, /^GET \/attempt HTTP\/1\.1\r\n/)
  assert.match(request, /\r\nauthorization: Bearer secret\r\nplimsoll-channel: abc\r\n\r\n$/)
})

test('bytes are held until the answer begins, and then passed on', async (t) => {
  const { channel, worker, held } = await open(t)
  worker.write(switching)
  worker.write(body.subarray(0, 200_000))
  while (Buffer.concat(held).length < 200_000) await new Promise(setImmediate)
  const { got, ...sink } = client()
  channel.begin(sink)
  worker.write(body.subarray(200_000))
  assert.equal(await channel.ended, true)
  while (Buffer.concat([...held, ...got]).length < body.length) await new Promise(setImmediate)
  assert.ok(Buffer.concat([...held, ...got]).equals(body))
})

test('the head of the response may arrive in pieces, and with the first bytes', async (t) => {
  const { channel, worker, held } = await open(t, 5)
  for (const piece of ['HTTP/1.1 101 Switching', ' Protocols\r\n\r', '\nab']) {
    worker.write(piece)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  worker.write('cdefg')
  assert.equal(await channel.ended, true)
  assert.equal(Buffer.concat(held).toString(), 'abcde')
})

test('a body that ends early is incomplete', async (t) => {
  const { channel, worker } = await open(t)
  worker.end(`${switching}abc`)
  assert.equal(await channel.ended, false)
})

for (const [what, text] of [
  ['that does not have the body', 'HTTP/1.1 404 Not Found\r\n\r\n'],
  ['that closes the connection', ''],
  ['that never ends its head', 'HTTP/1.1 101 '.padEnd(2000, 'x')],
] as const) {
  test(`a worker ${what} refuses the channel`, async (t) => {
    const { channel, worker } = await open(t)
    if (text.length > 1000) worker.write(text)
    else worker.end(text)
    await assert.rejects(channel.refused, /did not send the body/)
    assert.equal(await channel.ended, false)
  })
}

test('a worker that cannot be reached refuses the channel', async () => {
  const channel = new ByteChannel({
    ...{ address: { host: '127.0.0.1', port: 1 }, token: 'secret', ticket: 'abc', bytes: 1 },
    ...{ buffers: new ReadBuffers(), signal: new AbortController().signal, held() {} },
  })
  await assert.rejects(channel.refused)
})

test('an aborted attempt closes its channel', async (t) => {
  const { channel, worker, abort } = await open(t)
  worker.write(switching)
  const closed = new Promise((resolve) => worker.once('close', resolve))
  abort.abort()
  assert.equal(await channel.ended, false)
  await closed
})

test('the worker waits for a client that reads nothing', async (t) => {
  const { channel, worker } = await open(t, 50_000_000)
  worker.write(switching)
  let isKept = false
  channel.begin({ ...client(), pass() {}, keep: () => (isKept = true) })
  let sent = 0
  const chunk = Buffer.alloc(100_000)
  while (sent < 50_000_000 && worker.write(chunk)) {
    sent += chunk.length
    await new Promise(setImmediate)
  }
  assert.ok(worker.writableNeedDrain)
  while (!isKept) await new Promise((resolve) => setTimeout(resolve, 20))
})
