/** Plain requests of the fast path: whatever it accepts, Node's server reads in the same way. */

import { createServer, type IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { longestHead, readPlainHead } from '../../../src/front/fast-path/plain-head.ts'
import { PlainRequest, readPlainRequest } from '../../../src/front/fast-path/plain-request.ts'
import { RequestBoundaries } from '../../../src/front/fast-path/request-boundaries.ts'
import type { Random } from '../../../src/lib/random.ts'
import { chance, listOf, oddNumbers, pick, textOf } from '../draw.ts'
import { httpWords, pathOf, requestsOf } from '../http-grammar.ts'
import { errorsOf, holds, type Target } from '../target.ts'

const headEnd = Buffer.from('\r\n\r\n')
/** A valid request: it shows where Node's server saw the end of the one before. */
const next = Buffer.from('GET /next HTTP/1.1\r\nhost: next\r\n\r\n')
const nothing = Buffer.alloc(0)
/** Longer bodies are not generated. */
const longestBody = 10_000

const names = [
  ...[
    'Accept',
    'User-Agent',
    'Cookie',
    'cookie',
    'X-A',
    'x-a',
    'If-None-Match',
    'Authorization',
    'Set-Cookie',
  ],
  ...['Connection', 'Proxy-Connection', 'Keep-Alive', 'TE', 'Content-Length', 'Host', '__proto__', 'Referer'],
  ...['Transfer-Encoding', 'Upgrade', 'Expect', 'HTTP2-Settings', 'Trailer', 'x!#$%&*+.^_`|~9', 'Ä', ''],
]
const values = [
  ...['*/*', 'curl/8', 'a=b; c=d', '', ' ', '\t x \t', 'keep-alive', 'Keep-Alive', 'close', 'upgrade', 'h2c'],
  ...[
    '100-continue',
    'chunked',
    '0',
    '3',
    '03',
    '+3',
    'keep-alive, x',
    '\x80\xff',
    '\x7f',
    'a\0b',
    '\u00a0a\u00a0',
  ],
]

function plainRequest(random: Random): Buffer {
  const line = `${pick(random, ['GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])} ${pathOf(random)} HTTP/1.1`
  const field = () =>
    `${pick(random, names)}:${pick(random, ['', ' ', ' ', ' ', '  ', '\t'])}${chance(random, 0.8) ? pick(random, values) : pick(random, [...oddNumbers, textOf(random)])}`
  const lines = [line, 'Host: x', ...listOf(random, 6, field)]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\nabc`, 'latin1')
}

export const plainHead: Target = {
  name: 'plain-head',
  about: 'plain requests, compared with Node',
  weight: 2,
  maxBytes: 2 * longestHead,
  cpuMs: 1_000,
  words: httpWords,
  generate: (random) => (chance(random, 0.8) ? plainRequest(random) : requestsOf(random)),
  declared: errorsOf(),
  open() {
    const node = nodeServer()
    return { run: (input) => compare(input, node), close: () => void node.server.close() }
  },
}

async function compare(input: Buffer, { read }: ReturnType<typeof nodeServer>): Promise<string> {
  const end = input.indexOf(headEnd)
  const head =
    end < 0 || end > longestHead ? undefined : readPlainHead(input.toString('latin1', 0, end), undefined)
  if (!head) return 'not plain'
  const { length = 0, raw } = head.fields
  if (length > longestBody) return 'a long body'
  const begin = end + headEnd.length
  const body = Buffer.alloc(length, 'b')
  input.copy(body, 0, begin)
  const bytes = Buffer.concat([input.subarray(0, begin), body, next])
  const whole = readsWhole(input, bytes.subarray(0, begin + length))
  const boundaries = new RequestBoundaries()
  // Where the bytes are divided makes no difference.
  const middle = (begin * 7) % bytes.length
  for (const piece of [bytes.subarray(0, middle), bytes.subarray(middle)])
    holds(boundaries.read(piece), 'not read in pieces')
  holds(boundaries.isBetween && boundaries.count === 2, `${boundaries.count} requests, not 2`)
  const seen = await read(bytes)
  const [one, two] = seen
  holds(seen.length === 2, `${seen.length} requests for Node, not 2`)
  holds(one!.method === head.method && one!.url === head.target, 'another method or target')
  holds(isDeepStrictEqual(one!.rawHeaders, raw), 'other headers')
  const plain = new PlainRequest(head, one!.socket)
  holds(isDeepStrictEqual({ ...plain.headers }, { ...one!.headers }), 'headers are joined differently')
  holds(
    isDeepStrictEqual({ ...plain.headersDistinct }, { ...one!.headersDistinct }),
    'headers are listed differently',
  )
  holds(Buffer.concat(one!.body).equals(body), 'another body')
  holds(whole === undefined || (whole.wholeBody ?? nothing).equals(body), 'another body of a whole request')
  holds(two!.url === '/next' && two!.complete, 'the next request begins elsewhere')
  return `${head.method} ${raw.length > 8 ? 'with many headers' : length > 0 ? 'with a body' : 'without a body'}`
}

/** A request in one piece is read only if the piece is exactly the head and a body of the length that it names. */
function readsWhole(input: Buffer, request: Buffer): PlainRequest | undefined {
  const socket = new Socket()
  const read = (piece: Buffer) =>
    readPlainRequest(piece, socket, { known: undefined, headBytes: longestHead })
  holds(input.length === request.length || !read(input), 'a body of another length')
  holds(!read(Buffer.concat([request, next])), 'a request with the next one behind it')
  holds(!read(request.subarray(0, -1)), 'a request without its end')
  return read(request)
}

interface Seen extends IncomingMessage {
  body: Buffer[]
}

/** Node's server with the options of a front. It reads bytes without a socket. */
function nodeServer() {
  let seen: Seen[] = []
  const server = createServer({ maxHeaderSize: 16 * 1024 }, (request, response) => {
    const body: Buffer[] = []
    seen.push(Object.assign(request, { body }))
    request.on('data', (chunk: Buffer) => body.push(chunk))
    response.end()
  })
  server.on('clientError', (_, socket) => socket.destroy())
  async function read(bytes: Buffer): Promise<Seen[]> {
    seen = []
    const connection = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
    connection.on('error', () => {})
    server.emit('connection', connection)
    connection.push(bytes)
    for (let turn = 0; turn < 20 && !(seen.length === 2 && seen.every(({ complete }) => complete)); turn++)
      await new Promise(setImmediate)
    connection.destroy()
    return seen
  }
  return { server, read }
}
