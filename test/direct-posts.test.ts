/** POST requests: those with short parameters go to a worker directly, all others to Node's server. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { questioner } from '../src/estimate/question.ts'
import { AnswerStore } from '../src/front/answer-buffer.ts'
import { FrontServer } from '../src/front/connection-steps.ts'
import { watchConnections } from '../src/front/connections.ts'
import { type DirectFirstParts, directFirst } from '../src/front/direct/direct-first.ts'
import { DirectRequest } from '../src/front/direct/direct-request.ts'
import { DirectReports } from '../src/front/direct/report.ts'
import { ResponseExchange } from '../src/front/direct/response-exchange.ts'
import { WorkloadRequests } from '../src/front/direct/workload-requests.ts'
import { keepAliveMs } from '../src/front/fast-path/answer-text.ts'
import { FastPath } from '../src/front/fast-path/fast-path.ts'
import { frontDefaults } from '../src/front/front.ts'
import { shortBytes } from '../src/front/request/params.ts'
import { defineWorkload, type Workload } from '../src/workload/workload.ts'
import small from './fixtures/small.ts'
import { token, useDirectWorld } from './support/direct-world.ts'

const run = () => undefined
const workloads = [
  ...(small as Workload[]),
  defineWorkload({ name: 'once', description: '', safeToRepeat: false, run }),
  defineWorkload({ name: 'little', description: '', maxParamsBytes: 20, run }),
]

/** The fast path with the direct path to a worker behind it. Node's server answers with the text `node` and the body. */
async function open(t: TestContext, hasFastPath = true) {
  const world = await useDirectWorld(t, { files: [join(import.meta.dirname, 'fixtures/small.ts')] })
  const reports = new DirectReports({ isUp: () => false, send() {} })
  const byName = new Map(workloads.map((workload) => [workload.name, workload]))
  const requests = new WorkloadRequests({
    ...{ workloads: byName, question: questioner({ code: {}, log() {} }), quantities: [], reports },
    ...{ limits: frontDefaults, reach: () => ({ address: world.address, token }), log() {} },
  })
  requests.update({ seq: 1, names: [...byName.keys()], workers: [{ id: 'w' }] })
  const general = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => response.end(`node ${request.url} ${Buffer.concat(chunks)}`))
  }
  const parts = { limits: frontDefaults, answers: new AnswerStore(frontDefaults), general }
  const exchangeOf = (request: IncomingMessage, response: ServerResponse) =>
    new ResponseExchange(request, response, parts)
  const direct: DirectFirstParts['direct'] = {
    ...{ isOpen: true, longestBody: requests.longestBody },
    take: (request, exchange) =>
      requests.take(request, () => new DirectRequest(request, exchange, { leave() {}, log() {} })),
  }
  const answer = directFirst({ direct, exchangeOf, general })
  const server = new FrontServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    watch.add(response)
    if (!server.fastPath?.claims(request, response)) answer(request, response)
  })
  const watch = watchConnections(server)
  if (hasFastPath) {
    server.fastPath = new FastPath({ direct, exchangeOf, limits: frontDefaults, isIdle: watch.isIdle })
    server.on('connection', (socket: Socket) => server.fastPath!.add(socket))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.fastPath?.close()
    requests.close()
    reports.close()
    server.close()
    server.closeAllConnections()
  })
  return Client.open(server)
}

class Client {
  readonly #socket: Socket
  /** The connection on the side of the server. */
  #accepted: Socket | undefined
  #text = ''

  constructor(server: FrontServer) {
    server.once('connection', (socket: Socket) => {
      this.#accepted = socket
    })
    const { port } = server.address() as AddressInfo
    this.#socket = connect(port, '127.0.0.1').setEncoding('latin1')
    this.#socket.on('data', (text: string) => {
      this.#text += text
    })
  }

  /** Its first request has been answered, so that the next ones may take the fast path. */
  static async open(server: FrontServer): Promise<Client> {
    const client = new Client(server)
    assert.match(await client.ask(post('/first', '')), /^node/)
    return client
  }

  /** The bodies of the next answers. */
  async ask(bytes: string, answers = 1): Promise<string> {
    this.#socket.write(bytes, 'latin1')
    const bodies: string[] = []
    while (bodies.length < answers) {
      const taken = takeAnswer(this.#text)
      if (!taken) await once(this.#socket, 'data')
      else {
        bodies.push(taken.body)
        this.#text = taken.rest
      }
    }
    assert.equal(this.#text, '')
    return bodies.join(' | ')
  }

  /** Resolves when the server has read it, alone. */
  async sendPiece(bytes: string): Promise<void> {
    const before = this.#accepted!.bytesRead
    this.#socket.write(bytes, 'latin1')
    while (this.#accepted!.bytesRead < before + bytes.length) await new Promise(setImmediate)
  }
}

function takeAnswer(text: string): { body: string; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n') + 4
  const [, length] = /^content-length: (\d+)\r$/im.exec(text.slice(0, end)) ?? []
  if (end < 4 || length === undefined || text.length < end + Number(length)) return undefined
  return { body: text.slice(end, end + Number(length)), rest: text.slice(end + Number(length)) }
}

const json = 'content-type: application/json\r\n'
const form = 'content-type: application/x-www-form-urlencoded\r\n'

function post(path: string, body: string, lines = json, method = 'POST'): string {
  return `${method} ${path} HTTP/1.1\r\nhost: h\r\n${lines}content-length: ${body.length}\r\n\r\n${body}`
}

const sent: [request: string, params: string][] = [
  [post('/echo', '{"a":[1,null],"b":"x"}'), '{"a":[1,null],"b":"x"}'],
  [post('/echo', '{}'), '{}'],
  [post('/echo?q=1', ' { "a" : 2 }\n'), '{"q":"1","a":2}'],
  [post('/echo', '{"a":1,"a":2,"b":1e400,"c":-0}'), '{"a":2,"b":null,"c":0}'],
  [post('/echo', '{"a":"GET /x HTTP/1.1\\r\\n\\r\\n"}'), '{"a":"GET /x HTTP/1.1\\r\\n\\r\\n"}'],
  [post('/echo', '{"a":\r\n\r\n1}'), '{"a":1}'],
  [post('/echo', '{"ä":"\xc3\xa4"}'.replace('ä', '\xc3\xa4')), '{"\xc3\xa4":"\xc3\xa4"}'],
  [post('/echo?q=1', '', ''), '{"q":"1"}'],
  [post('/echo', 'a=1&b=%20x', form), '{"a":"1","b":" x"}'],
  [post('/echo?q=1', 'a=1', form), '{"q":"1","a":"1"}'],
  [post('/echo', '', form), '{}'],
]

for (const [where, hasFastPath] of [
  ['on the fast path', true],
  ["by Node's server", false],
] as const) {
  test(`short parameters in a body go to a worker, as they were sent, if they are read ${where}`, async (t) => {
    const client = await open(t, hasFastPath)
    for (const [request, params] of sent) {
      const answer = await client.ask(request)
      assert.equal(JSON.stringify(JSON.parse(answer).params), params, request)
    }
  })
}

const long = JSON.stringify({ a: 'x'.repeat(shortBytes) })
const left: [why: string, request: string][] = [
  ['data', post('/echo', 'abc', 'content-type: application/octet-stream\r\n')],
  ['data without a type', post('/echo', 'abc', '')],
  ['malformed JSON', post('/echo', '{"a":')],
  ['no object', post('/echo', '[1]')],
  ['an empty JSON body', post('/echo', '')],
  ['a parameter twice', post('/echo?a=1', '{"a":2}')],
  ['a binary form', post('/echo', 'a=\x01', form)],
  ['long parameters', post('/echo', long)],
  ['more than the workload allows', post('/little', '{"aaaaaaaa":"bbbbbbbb"}')],
  ['a longer query than the workload allows', post('/little?aaaaaaaa=bbbbbbbbbbbbb', '', '')],
  ['work that must not be repeated', post('/once', '{}')],
  ['an idempotency key', post('/echo', '{}', `${json}idempotency-key: "1"\r\n`)],
  ['a preference', post('/echo', '{}', `${json}prefer: respond-async\r\n`)],
  ['a deadline', post('/echo', '{}', `${json}plimsoll-deadline: 60000\r\n`)],
  ['a second host', post('/echo', '{}', `${json}Host: h\r\n`)],
  ['trailers', post('/echo', '{}', `${json}te: trailers\r\n`)],
  ['another method', post('/echo', '{}', json, 'PUT')],
  ['a GET with a body', post('/echo', '{}', json, 'GET')],
  ['a GET that announces JSON', `GET /echo?a=1 HTTP/1.1\r\nhost: h\r\n${json}\r\n`],
  ['a streamed answer', post('/bad', '{"how":"stream"}')],
]

for (const [where, hasFastPath] of [
  ['on the fast path', true],
  ["by Node's server", false],
] as const) {
  test(`anything else takes the general path, with its body, and the next request does not, ${where}`, async (t) => {
    const client = await open(t, hasFastPath)
    for (const [why, request] of left) {
      const [, path] = request.split(' ', 2)
      const body = request.slice(request.indexOf('\r\n\r\n') + 4)
      assert.equal(await client.ask(request), `node ${path} ${body}`, why)
      assert.match(await client.ask(post('/echo', '{}')), /^\{"params":\{\}/, why)
    }
    const chunked = `POST /echo HTTP/1.1\r\nhost: h\r\n${json}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`
    assert.equal(await client.ask(chunked), 'node /echo {}')
    assert.match(await client.ask(post('/echo', '{}')), /^\{"params":\{\}/)
  })
}

test('requests that come together, or in pieces, are answered in their order', async (t) => {
  const client = await open(t)
  const one = post('/echo', '{"a":1}')
  const both = await client.ask(one + post('/first', 'b'), 2)
  assert.match(both, /^\{"params":\{"a":1\}.* \| node \/first b$/)
  // The body of a head that names no length is the next request.
  const nothing = `POST /echo?a=1 HTTP/1.1\r\nhost: h\r\n\r\n`
  assert.equal(await client.ask(nothing), 'node /echo?a=1 ')
  assert.match(await client.ask(nothing + one, 2), /^node \/echo\?a=1 {2}\| \{"params":\{"a":1\}/)
  const head = one.length - '{"a":1}'.length
  for (const at of [head, head + 3]) {
    await client.sendPiece(one.slice(0, at))
    assert.match(await client.ask(one.slice(at)), /^\{"params":\{"a":1\}/)
  }
  assert.match(await client.ask(one), /^\{"params":\{"a":1\}/)
})
