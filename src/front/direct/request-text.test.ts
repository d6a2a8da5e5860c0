import assert from 'node:assert/strict'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, createServer as createNetServer, type Server } from 'node:net'
import test, { type TestContext } from 'node:test'
import fc from 'fast-check'
import { requestHeaders as programHeaders } from '../../worker/program/request-headers.ts'
import { checkHead } from '../request/check-head.ts'
import { readUrl } from '../request/url.ts'
import { requestHeaders } from '../transports/proxy-headers.ts'
import { requestText } from './request-text.ts'

const listening = async (t: TestContext, server: Server) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** The bytes that a program receives if Node's client sends this request, as the general path does. */
async function sentBytes(t: TestContext) {
  let received = (_: string) => {}
  let end = ''
  const port = await listening(
    t,
    createNetServer((socket) => {
      let text = ''
      socket.on('error', () => {})
      socket.on('data', (data) => {
        text += data.toString('latin1')
        if (!text.endsWith(end)) return
        socket.destroy()
        received(text)
      })
    }),
  )
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  return (method: string, target: string, headers: string[], body: string | undefined) =>
    new Promise<string>((resolve, reject) => {
      received = resolve
      end = `\r\n\r\n${body ?? ''}`
      const call = request({ host: '127.0.0.1', port, agent, method, path: target, headers })
      call.on('error', () => {})
      call.on('error', (error: NodeJS.ErrnoException) => error.code?.startsWith('ERR_') && reject(error))
      // As the worker does.
      if (body !== undefined) call.write('', 'latin1')
      call.end(body, 'latin1')
    })
}

interface Both {
  direct: string | undefined
  general(): Promise<string>
}

/** What both paths send for a request with this text. Undefined: Node's parser rejects it. */
async function paths(t: TestContext, isTrusted = false) {
  const send = await sentBytes(t)
  let seen = (_: Both) => {}
  const server = createServer(async (message, response) => {
    const announced = message.headers['content-length']
    const wholeBody = announced === undefined ? undefined : Buffer.concat(await message.toArray())
    const direct = directText(Object.assign(message, { wholeBody }), isTrusted)
    // Before the socket is closed: the address of the client is part of it.
    const general = generalRequest(message, isTrusted)
    seen({ direct: direct && `${direct}${wholeBody ?? ''}`, general: async () => send(...general()) })
    response.destroy()
  })
  server.on('clientError', (_, socket) => socket.destroy())
  const port = await listening(t, server)
  return (text: string) =>
    new Promise<Both | undefined>((resolve) => {
      seen = resolve
      const socket = connect({ port, host: '127.0.0.1' }, () => socket.end(text, 'latin1'))
      socket.on('error', () => {}).on('close', () => resolve(undefined))
      socket.resume()
    })
}

function directText(message: IncomingMessage, isTrusted: boolean): string | undefined {
  try {
    return requestText(message, readUrl(message), () => isTrusted)
  } catch {
    return undefined
  }
}

function generalRequest(
  message: IncomingMessage & { wholeBody?: Buffer | undefined },
  isTrusted: boolean,
): () => [method: string, target: string, headers: string[], body: string | undefined] {
  const { remoteAddress } = message.socket
  const body = message.wholeBody?.length ? `${message.wholeBody}` : undefined
  return () => {
    checkHead(message)
    const url = readUrl(message)
    const from = { rawHeaders: message.rawHeaders, headers: message.headers, socket: { remoteAddress } }
    const http = {
      method: message.method!,
      target: url.text,
      headers: requestHeaders(from as IncomingMessage, { isTrusted, host: url.host, upgrade: false }),
    }
    // Attempts are sent to workers as JSON.
    const parsed = JSON.parse(JSON.stringify(http)) as typeof http
    return [parsed.method, parsed.target, programHeaders(parsed, body !== undefined, 'program'), body]
  }
}

test('a plain request is sent as the general path sends it', async (t) => {
  const ask = await paths(t)
  const both = await ask(
    'GET /a/../b?c=%20 HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nCookie: a\r\ncookie: \xe9\r\nKeep-Alive: 5\r\nConnection: close\r\nconstructor: c\r\n\r\n',
  )
  const sent =
    'GET /b?c=%20 HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nCookie: a\r\ncookie: \xe9\r\nconstructor: c\r\n' +
    'x-forwarded-for: 127.0.0.1\r\nx-forwarded-proto: http\r\nx-forwarded-host: h\r\nConnection: keep-alive\r\n\r\n'
  assert.deepEqual([both!.direct, await both!.general()], [sent, sent])
})

const unusual = [
  ...[
    'Content-Length: 0',
    'Transfer-Encoding: chunked',
    'Expect: 100-continue',
    'TE: trailers',
    'Trailer: x',
  ],
  ...['Upgrade: h2c'],
  ...[
    'Proxy-Authorization: x',
    'Plimsoll-Deadline: 5',
    'plimsoll-announce: job',
    'plimsoll-max-cost: 90s',
    'Connection: x',
    'Host: again',
  ],
  ...['Connection: close\r\nClose: x', 'Connection: keep-alive, x'],
]

test('headers of a trusted proxy are merged with this hop, those of others are dropped', async (t) => {
  const lines =
    'Host: h\r\nX-Forwarded-For: 10.0.0.1\r\nForwarded: for=a\r\nx-forwarded-for: 10.0.0.2\r\nX-Forwarded-Proto: https\r\n' +
    'X-Forwarded-Host: example.org\r\nX-Forwarded-Port: 443\r\nx_forwarded_host: evil\r\nx-forwarded_port: 1\r\n'
  const expected = {
    trusted:
      'X-Forwarded-Port: 443\r\nforwarded: for=a, for=127.0.0.1;proto=http\r\n' +
      'x-forwarded-for: 10.0.0.1, 10.0.0.2, 127.0.0.1\r\nx-forwarded-proto: https\r\nx-forwarded-host: example.org\r\n',
    other: 'x-forwarded-for: 127.0.0.1\r\nx-forwarded-proto: http\r\nx-forwarded-host: h\r\n',
  }
  for (const [who, headers] of Object.entries(expected)) {
    const ask = await paths(t, who === 'trusted')
    const both = await ask(`GET / HTTP/1.1\r\n${lines}\r\n`)
    const sent = `GET / HTTP/1.1\r\nHost: h\r\n${headers}Connection: keep-alive\r\n\r\n`
    assert.deepEqual([both!.direct, await both!.general()], [sent, sent])
  }
})

test('a request with anything unusual takes the general path', () => {
  const from = (rawHeaders: string[], more: object = {}) =>
    ({
      ...{ method: 'GET', url: '/', httpVersionMajor: 1, httpVersionMinor: 1, rawHeaders },
      socket: { remoteAddress: '::ffff:10.0.0.7' },
      ...more,
    }) as unknown as IncomingMessage
  const text = (message: IncomingMessage) => requestText(message, readUrl(message), () => false)
  assert.match(
    text(from(['Host', 'h'])) ?? '',
    /^GET \/ HTTP\/1\.1\r\nHost: h\r\nx-forwarded-for: 10\.0\.0\.7\r\n/,
  )
  for (const lines of unusual) {
    const raw = lines.split(/: |\r\n/)
    assert.equal(text(from(['Host', 'h', ...raw])), undefined, lines)
  }
  assert.equal(text(from([])), undefined)
  assert.equal(text(from(['Host', ''])), undefined)
  assert.equal(text(from(['Host', 'h'], { httpVersionMinor: 0 })), undefined)
  assert.equal(text(from(['Host', 'h'], { url: 'http://other/' })), undefined)
  for (const control of ['\t', '\f', '\n', '\r', ' ', '\0'])
    assert.equal(text(from(['Host', 'h'], { url: `/a${control}b` })), undefined)
})

const names = [
  ...['Accept', 'x-a', 'Cookie', 'constructor', '__proto__', 'toString', 'valueOf', 'Keep-Alive', 'Range'],
  ...['If-None-Match', 'Connection', 'Close', 'TE', 'x_forwarded_for', 'Proxy-X', 'Content-Length', 'Host'],
  ...['plimsoll-method', 'Via', 'Forwarded', 'X-Forwarded-For', 'x-forwarded-proto', 'X-Forwarded-Host'],
  'X-Forwarded-Port',
]
const values = [
  'a',
  '',
  ' a\t',
  '\xa0b\xff',
  'close',
  'keep-alive',
  'x',
  '0',
  'a, b',
  'a\x7f',
  'a\x01',
  'a: b',
  '"\\"',
]
const target = fc.oneof(
  fc.webPath().map((path) => `/${path}`),
  fc.constantFrom(
    '/',
    '/a\tb',
    '/a\fb',
    '/\xe9?\xff',
    '*',
    '//h/x',
    '/a?b=c#d',
    'http://h/x',
    '/%2e%2e/x',
    '/./-/x',
    '/a|{}"<>^`',
  ),
  fc.string({ unit: 'binary-ascii', maxLength: 8 }).map((text) => `/${text}`),
)
const message = fc.record({
  method: fc.constantFrom('GET', 'GET', 'HEAD', 'DELETE', 'POST', 'PUT'),
  body: fc.option(fc.string({ unit: 'binary-ascii', maxLength: 5 })),
  target,
  version: fc.constantFrom('1.1', '1.1', '1.1', '1.0'),
  headers: fc.array(
    fc.tuple(fc.constantFrom(...names), fc.constantFrom(': ', ':', ':\t'), fc.constantFrom(...values)),
    {
      maxLength: 5,
    },
  ),
})

for (const isTrusted of [false, true])
  test(`whatever is sent directly is what the general path sends, ${isTrusted ? 'for a trusted proxy' : 'for others'}`, (t) =>
    comparePaths(t, isTrusted))

async function comparePaths(t: TestContext, isTrusted: boolean): Promise<void> {
  const ask = await paths(t, isTrusted)
  let [all, direct] = [0, 0]
  await fc.assert(
    fc.asyncProperty(message, async ({ method, target, version, headers, body }) => {
      const lines = headers.map(([name, colon, value]) => `${name}${colon}${value}\r\n`).join('')
      // Node's client would send a length of 0 with a POST that has none.
      const hasBody = method === 'POST' || method === 'PUT' || (method === 'DELETE' && body !== null)
      const length = hasBody ? `Content-length: ${body?.length ?? 0}\r\n` : ''
      const text = `${method} ${target} HTTP/${version}\r\nHost: h\r\n${length}${lines}\r\n`
      const both = await ask(text + (hasBody ? (body ?? '') : ''))
      all++
      if (both?.direct === undefined) return
      direct++
      assert.equal(both.direct, await both.general())
    }),
    { numRuns: 1_500 },
  )
  t.diagnostic(`${direct} of ${all} requests sent directly`)
  assert.ok(direct > all / 10, `${direct} of ${all}`)
}

test('the program of a client that uses TLS learns so, as on the general path', () => {
  const message = {
    ...{ method: 'GET', url: '/', httpVersionMajor: 1, httpVersionMinor: 1 },
    ...{ rawHeaders: ['Host', 'h'], headers: { host: 'h' } },
    socket: { remoteAddress: '127.0.0.1', encrypted: true },
  } as unknown as IncomingMessage
  const direct = requestText(message, readUrl(message), () => false)
  assert.match(direct!, /\r\nx-forwarded-proto: https\r\n/)
  const general = requestHeaders(message, { isTrusted: false, upgrade: false })
  assert.equal(general[general.indexOf('x-forwarded-proto') + 1], 'https')
})

test('a request of HTTP/2 is sent as one of HTTP/1.1', () => {
  const message = {
    ...{ method: 'GET', url: '/a?b', httpVersionMajor: 2, httpVersionMinor: 0 },
    rawHeaders: ['host', 'h', 'x-a', '1', 'cookie', 'a=1; b=2'],
    socket: { remoteAddress: '127.0.0.1', encrypted: true },
  } as unknown as IncomingMessage
  const text = (more: object = {}) =>
    requestText({ ...message, ...more }, readUrl({ url: '/a?b' }), () => false)
  assert.equal(
    text(),
    'GET /a?b HTTP/1.1\r\nhost: h\r\nx-a: 1\r\ncookie: a=1; b=2\r\n' +
      'x-forwarded-for: 127.0.0.1\r\nx-forwarded-proto: https\r\nx-forwarded-host: h\r\nConnection: keep-alive\r\n\r\n',
  )
  for (const length of ['content-length', 'transfer-encoding'])
    assert.equal(text({ rawHeaders: ['host', 'h', length, '1'] }), undefined)
})
