import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import test from 'node:test'
import type { HttpHead } from '../../wire/messages.ts'
import { answer, get, okHead, serve } from './testing/fast-server.ts'

test('plain requests are answered on their connection, without a request of the server', async (t) => {
  const { client, next, general } = await serve(t)
  const user = await client()
  for (const path of ['/fast/1', '/fast/2?x=y']) {
    user.text = ''
    user.send(get(path, 'cookie: a=b\r\nX-A: 1\r\nx-a: 2\r\n'))
    const asked = await next()
    const { method, url, headers, rawHeaders, headersDistinct } = asked.request
    assert.deepEqual([method, url, headers['x-a']], ['GET', path, '1, 2'])
    assert.deepEqual(rawHeaders, ['host', 'h', 'cookie', 'a=b', 'X-A', '1', 'x-a', '2'])
    assert.deepEqual(headersDistinct['x-a'], ['1', '2'])
    let closed = 0
    asked.exchange.onClose(() => closed++)
    answer(asked)
    await user.until(/ok$/)
    assert.match(
      user.text,
      /^HTTP\/1\.1 200 OK\r\ncontent-length: 2\r\nDate: .*\r\nConnection: keep-alive\r\n/,
    )
    assert.equal(closed, 1)
  }
  assert.deepEqual(general, ['GET /first'])
})

const heads: HttpHead[] = [
  okHead,
  { status: 200, message: '', headers: ['Content-Length', '2', 'Set-Cookie', 'a', 'Set-Cookie', 'b'] },
  { status: 404, message: 'No Such Thing', headers: ['X-A', '\xe4\t', 'Content-Type', 'text/plain'] },
  {
    status: 500,
    message: 'Fault',
    headers: ['date', 'Thu, 01 Jan 1970 00:00:00 GMT', 'content-length', '2'],
  },
]
const without: HttpHead[] = [
  { status: 204, message: 'No Content', headers: ['x', 'y'] },
  { status: 304, message: 'Not Modified', headers: ['etag', '"a"', 'content-length', '2'] },
  { status: 200, message: 'OK', headers: ['content-length', '0'] },
  { status: 200, message: 'OK', headers: [] },
]
const answers: [HttpHead, Buffer[]][] = [
  ...heads.map((head): [HttpHead, Buffer[]] => [head, [Buffer.from('ok')]]),
  ...without.map((head): [HttpHead, Buffer[]] => [head, []]),
  [{ status: 200, message: 'OK', headers: ['content-length', '9000'] }, [Buffer.alloc(9_000, 'a')]],
  [{ status: 200, message: 'OK', headers: [] }, [Buffer.alloc(9_000, 'a')]],
  [{ status: 200, message: 'OK', headers: [] }, [Buffer.from('\xff\x80', 'latin1')]],
]

test('answers have the same bytes as those of the server', async (t) => {
  const { client, next } = await serve(t)
  const fast = await client()
  const slow = await client()
  for (const method of ['GET', 'HEAD']) {
    for (const [head, body] of answers) {
      for (const each of [fast, slow]) {
        each.text = ''
        each.send(`${method} /fast HTTP/1.1\r\nhost: h\r\n\r\n`)
        const asked = await next()
        if (each === slow) asked.exchange.onClose(undefined)
        // A request that was passed to the server is answered by its response.
        if (each === slow) (asked.exchange as unknown as { lend(): void }).lend()
        asked.exchange.client().deliverProxied({ ...head, headers: [...head.headers] }, body, [])
        each.send(get('/end'))
        await each.until(/node \/end\r\n0\r\n\r\n$|node \/end$/)
      }
      const shown = (text: string) => text.replaceAll(/^date: .*$/gim, 'date: -')
      assert.equal(shown(fast.text), shown(slow.text), `${method} ${JSON.stringify(head)}`)
    }
  }
})

test('a connection returns to the fast path after requests that the server reads', async (t) => {
  const { client, next, general } = await serve(t)
  const user = await client()
  const ask = async (text: string, end: RegExp) => {
    user.text = ''
    user.send(text)
    await user.until(end)
  }
  const others = [
    get('/other'),
    'OPTIONS /fast HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello',
    'POST /fast HTTP/1.1\r\nhost: h\r\n\r\n',
    `${get('/fast', 'content-length: 3\r\n')}abc`,
    get('/other/1') + get('/other/2'),
  ]
  for (const text of others) {
    await ask(text, /node \/(?:fast|other(?:\/2)?)(?:\r\n0\r\n\r\n)?$/)
    const before = general.length
    user.send(get('/fast'))
    answer(await next())
    await user.until(/ok$/)
    assert.equal(general.length, before)
  }
  // In pieces: Node's server reads it.
  user.text = ''
  const parts = [...get('/pieces')]
  for (const part of parts) {
    user.send(part)
    await new Promise(setImmediate)
  }
  await user.until(/node \/pieces(?:\r\n0\r\n\r\n)?$/)
  user.send(get('/fast'))
  answer(await next())
  await user.until(/ok$/)
})

for (const head of ['content-length: 4194304', 'transfer-encoding: chunked']) {
  test(`little is kept of a body whose reader is behind (${head})`, async (t) => {
    const { server, client, next, general } = await serve(t, { highWaterMark: 512 * 1024 })
    const [user, other] = [await client(), await client()]
    const behind = new Promise<IncomingMessage>((resolve) =>
      server.on('request', (request) => {
        if (request.url === '/behind') resolve(request.pause())
      }),
    )
    user.send(`POST /behind HTTP/1.1\r\nhost: h\r\n${head}\r\n\r\n`)
    if (head.endsWith('chunked')) user.send('400000\r\n')
    user.send('a'.repeat(4 * 1024 * 1024))
    if (head.endsWith('chunked')) user.send('\r\n0\r\n\r\n')
    const request = await behind
    // Meanwhile the server reads all that it wants to.
    for (let i = 0; i < 50; i++) {
      other.text = ''
      other.send(get('/fast'))
      answer(await next())
      await other.until(/ok$/)
    }
    const kept = request.readableLength + request.socket.readableLength
    assert.ok(kept <= 256 * 1024, `${kept} bytes`)
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    request.resume()
    await user.until(/node \/behind/)
    assert.equal(bytes, 4 * 1024 * 1024)
    assert.equal(general.at(-1), 'POST /behind')
  })
}

test('a chunked body leaves the connection to the server', async (t) => {
  const { client, general, taken } = await serve(t)
  const user = await client()
  user.send('POST /up HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n')
  await user.until(/node \/up/)
  user.send(get('/fast'))
  await user.until(/node \/fast/)
  assert.deepEqual(general.slice(-2), ['POST /up', 'GET /fast'])
  assert.deepEqual(taken, [])
})

test('pipelined requests are answered in their order', async (t) => {
  const { client, next, general } = await serve(t)
  const user = await client()
  user.send(get('/fast'))
  const first = await next()
  user.send(get('/second') + get('/third'))
  while (general.length < 3) await new Promise(setImmediate)
  answer(first)
  await user.until(/third/)
  assert.match(user.text, /ok.*node \/second.*node \/third/s)
})

test('a request is passed to the server when its connection is half-closed, and answered', async (t) => {
  const { client, next } = await serve(t)
  const user = await client()
  user.send(get('/fast'))
  const asked = await next()
  let closed = 0
  asked.exchange.onClose(() => closed++)
  user.socket.end()
  const ended = once(user.socket, 'close')
  await new Promise((resolve) => setImmediate(resolve))
  answer(asked)
  await ended
  assert.match(user.text, /200 OK.*ok$/s)
  while (closed === 0) await new Promise(setImmediate)
  assert.equal(closed, 1)
})

test('a client that disconnects ends its request, and a late answer goes nowhere', async (t) => {
  const { client, next } = await serve(t)
  const user = await client()
  user.send(get('/fast'))
  const asked = await next()
  const gone = new Promise<void>((resolve) => asked.exchange.onClose(resolve))
  user.socket.resetAndDestroy()
  await gone
  answer(asked)
  asked.exchange.general()
})

test('a request that takes the general path is read by the server', async (t) => {
  const { client, next } = await serve(t)
  const user = await client()
  user.send(get('/fast'))
  const asked = await next()
  asked.exchange.general()
  await user.until(/general/)
})

test('a request that was answered is not answered again by the next one', async (t) => {
  const { client, next } = await serve(t)
  const user = await client()
  user.send(get('/fast'))
  const first = await next()
  answer(first)
  await user.until(/ok$/)
  user.text = ''
  user.send(get('/fast'))
  const second = await next()
  answer(first, { ...okHead, headers: ['content-length', '5'] }, [Buffer.from('again')])
  first.exchange.general()
  answer(second)
  await user.until(/ok$/)
  assert.doesNotMatch(user.text, /again|general/)
})

test('connections with a request in progress are not idle', async (t) => {
  const { client, next, server } = await serve(t)
  const user = await client()
  const idle = await client()
  user.send(get('/fast'))
  const asked = await next()
  const closed = once(idle.socket, 'close')
  server.closeIdleConnections()
  await closed
  answer(asked)
  await user.until(/ok$/)
})

test('a request that takes long is passed to the server', async (t) => {
  const { client, next, server } = await serve(t)
  const user = await client()
  let requests = 0
  server.on('request', () => requests++)
  user.send(get('/fast'))
  const asked = await next()
  server.fastPath!.sweep()
  assert.equal(requests, 0)
  server.fastPath!.sweep()
  assert.equal(requests, 1)
  answer(asked)
  await user.until(/ok$/)
})

test('nothing is taken while the direct path is closed', async (t) => {
  const { client, direct } = await serve(t)
  const user = await client()
  direct.isOpen = false
  user.send(get('/fast'))
  await user.until(/node \/fast/)
})
