/** Attempts with a client's HTTP request, sent through the attempt server to a real program. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import test, { after } from 'node:test'
import { disciplines } from '../../model/discipline.ts'
import { epochOf } from '../../wire/leading.ts'
import {
  type AttemptHead,
  attemptPath,
  type HttpHead,
  type HttpRequest,
  headers,
} from '../../wire/messages.ts'
import { bearer } from '../../wire/token.ts'
import { usePrograms } from '../program/testing/use-programs.ts'
import { stateOf, until } from '../slots/testing/use-pool.ts'
import { Supervisor } from '../supervisor.ts'
import { attemptServer } from './attempt-server.ts'

const { pool, lines } = await usePrograms({ after })
const supervisor = new Supervisor(
  { pool, meter: 'off', cores: 2, slots: 4, send: () => {} },
  disciplines.srpt,
)
const server = attemptServer(supervisor, 'secret', Promise.resolve()).listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => {
  server.close()
  server.closeAllConnections()
})
const { port } = server.address() as AddressInfo

let jobs = 0

function headOf(target: string, http: Partial<HttpRequest> = {}): AttemptHead {
  return {
    ...{ epoch: 1, job: `job-${++jobs}`, attempt: 1, workload: 'server', params: null },
    ...{ work: 1000, preemptible: true, ask: false },
    http: { method: 'GET', target, headers: ['Host', 'example.test'], ...http },
  }
}

function post(head: AttemptHead, hasBody = false) {
  const bytes = Buffer.from(JSON.stringify(head))
  const call = httpRequest({
    ...{ host: '127.0.0.1', port, path: attemptPath, method: 'POST', agent: false },
    headers: {
      authorization: bearer('secret'),
      [headers.headBytes]: bytes.length,
      ...(!hasBody && { 'content-length': bytes.length }),
    },
  })
  call.on('error', () => {})
  call.write(bytes)
  if (!hasBody) call.end()
  return call
}

async function read(response: IncomingMessage): Promise<{ head: HttpHead; body: string }> {
  const bytes = await buffer(response)
  const length = Number(response.headers[headers.headBytes])
  return { head: JSON.parse(`${bytes.subarray(0, length)}`), body: `${bytes.subarray(length)}` }
}

async function ask(head: AttemptHead): Promise<IncomingMessage> {
  const [response] = (await once(post(head), 'response')) as [IncomingMessage]
  return response
}

/** The cost is in the head of an answer that arrived at once, otherwise in its trailers. */
function fieldsOf({ headers, trailers }: IncomingMessage): IncomingMessage['headers'] {
  return { ...headers, ...trailers }
}

test('an attempt of a former leader does not begin, one of the leader does', async (t) => {
  supervisor.term = 2
  t.after(() => {
    supervisor.term = 0
  })
  const former = await ask({ ...headOf('/raw'), epoch: epochOf(2) - 1 })
  assert.equal(former.headers[headers.outcome], 'refused')
  assert.match(`${await buffer(former)}`, /follows a newer leader/)
  const present = await ask({ ...headOf('/raw'), epoch: epochOf(2) })
  assert.equal(present.headers[headers.outcome], 'result')
  present.resume()
})

test('the answer is the head and the body of the program, with the cost', async () => {
  const response = await ask(headOf('/raw'))
  assert.equal(response.statusCode, 200)
  assert.equal(response.headers[headers.outcome], 'result')
  const { head, body } = await read(response)
  assert.deepEqual([head.status, head.message, body], [299, 'Odd But Fine', 'raw'])
  assert.deepEqual(head.headers.slice(0, 6), ['X-One', '1', 'x-two', 'ä', 'X-One', 'again'])
  assert.equal(fieldsOf(response)[headers.trailers], undefined)
  const busy = await ask(headOf('/spin?ms=5'))
  await read(busy)
  const fields = fieldsOf(busy)
  assert.equal(fields[headers.measure], 'cpu')
  const cpuMs = Number(fields[headers.cpuMs])
  assert.ok(cpuMs >= 4 && Math.abs(Number(fields[headers.work]) - cpuMs * 1000) <= 1)
})

test('trailers pass both ways, and the work that a program reports is not rounded', async () => {
  const response = await ask(headOf('/trailers'))
  assert.equal((await read(response)).body, 'body')
  const fields = fieldsOf(response)
  assert.deepEqual(JSON.parse(`${fields[headers.trailers]}`), ['X-Sum', '42', 'plimsoll-work', '7.5'])
  assert.equal(fields[headers.measure], 'header')
  assert.equal(fields[headers.work], '7.5')
  const call = post(headOf('/echo', { method: 'POST' }), true)
  call.write('some ')
  call.addTrailers({ [headers.trailers]: JSON.stringify(['X-Check', 'ä']) })
  call.end('body')
  const [echo] = (await once(call, 'response')) as [IncomingMessage]
  const { body, rawTrailers } = JSON.parse((await read(echo)).body)
  assert.deepEqual([body, rawTrailers], ['some body', ['X-Check', 'ä']])
})

test('a request without a body reaches the program without one', async () => {
  const { body } = await read(await ask(headOf('/echo')))
  assert.deepEqual(JSON.parse(body).rawHeaders, ['Host', 'example.test', 'Connection', 'keep-alive'])
})

test('a failure is reported in the head, or in the trailers after the head was sent', async () => {
  const response = await ask(headOf('/drop'))
  assert.equal(response.headers[headers.outcome], 'crash')
  const { message } = JSON.parse(`${await buffer(response)}`)
  assert.match(message, /closed the connection without an answer/)
  const cut = await ask(headOf('/cut'))
  assert.ok('ten bytes.'.startsWith((await read(cut)).body))
  assert.equal(cut.trailers[headers.outcome], 'crash')
})

test('a front that closes the connection cancels the attempt', async () => {
  const call = post(headOf('/hang'))
  await until(() => lines.some((line) => line.endsWith('hangs')), 'the request has arrived')
  call.destroy()
  await until(() => supervisor.report().length === 0, 'no attempt is left')
})

test('an upgraded connection works in both directions, and its end ends the attempt but not the program', async () => {
  const http = { headers: ['Host', 'h', 'Upgrade', 'echo'], upgrade: true } as const
  const upgrade = (head: AttemptHead, token = 'secret') =>
    httpRequest({
      ...{ host: '127.0.0.1', port, path: attemptPath, agent: false },
      headers: {
        authorization: bearer(token),
        connection: 'upgrade',
        upgrade: 'plimsoll-attempt',
        [headers.head]: Buffer.from(JSON.stringify(head)).toString('base64url'),
      },
    }).end()
  const pid = Number((await read(await ask(headOf('/pid')))).body)
  const [response, socket, first] = await once(
    upgrade(headOf('/', { ...http, headers: [...http.headers] })),
    'upgrade',
  )
  const head = JSON.parse(`${Buffer.from(response.headers[headers.head], 'base64url')}`)
  assert.equal(head.status, 101)
  assert.ok(head.headers.includes('Sec-WebSocket-Accept'))
  assert.equal(first.length, 0)
  socket.write('there and back')
  assert.equal(`${(await once(socket, 'data'))[0]}`, 'there and back')
  socket.end()
  await until(() => supervisor.report().length === 0, 'no attempt is left')
  assert.notEqual(stateOf(pid), undefined)

  const [no] = await once(upgrade(headOf('/no', { ...http, headers: [...http.headers] })), 'response')
  assert.equal((await read(no)).head.status, 403)
  const [stranger] = await once(upgrade(headOf('/'), 'guessed'), 'response')
  assert.equal(stranger.statusCode, 401)
})

test('an attempt that is answered before its body is read does not block the next one on its connection', async (t) => {
  const refusing = { take: () => ({ refused: 'no' }) } as unknown as Supervisor
  const other = attemptServer(refusing, 'secret', Promise.resolve()).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const socket = connect((other.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => {
    socket.destroy()
    other.close()
  })
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  const answers = () => received.split('HTTP/1.1 ').length - 1
  const body = Buffer.alloc(1024 * 1024)
  for (const count of [1, 2, 3]) {
    const head = JSON.stringify(headOf('/'))
    socket.write(
      `POST ${attemptPath} HTTP/1.1\r\nhost: w\r\nauthorization: ${bearer('secret')}\r\n` +
        `${headers.headBytes}: ${head.length}\r\ncontent-length: ${head.length + body.length}\r\n\r\n${head}`,
    )
    socket.write(body)
    await until(() => answers() === count, `answer ${count}`)
  }
})

/** Opens the connection for the body of a long answer. */
async function openChannel(ticket: string, token = 'secret'): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1')
  socket.write(
    `GET ${attemptPath} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: plimsoll-channel\r\n` +
      `authorization: ${bearer(token)}\r\n${headers.channel}: ${ticket}\r\n\r\n`,
  )
  return buffer(socket)
}

test('the body of a long answer takes a connection of its own, which names the ticket', async () => {
  const response = await ask({ ...headOf('/long?bytes=3000000'), channel: true })
  const ticket = String(response.headers[headers.channel])
  assert.match(String(await openChannel('other')), /^HTTP\/1\.1 404 /)
  assert.match(String(await openChannel(ticket, 'wrong')), /^HTTP\/1\.1 401 /)
  // Only one of two connections with the same ticket gets the body.
  const both = await Promise.all([openChannel(ticket), openChannel(ticket)])
  const [received, refused] = both.sort((one, other) => other.length - one.length)
  assert.match(String(refused), /^HTTP\/1\.1 404 /)
  const start = received!.indexOf('\r\n\r\n')
  assert.match(received!.toString('latin1', 0, start), /^HTTP\/1\.1 101 /)
  assert.equal(received!.toString('latin1', start + 4), 'x'.repeat(3_000_000))
  const { head, body } = await read(response)
  assert.deepEqual([head.status, body], [200, ''])
  assert.equal(response.trailers[headers.outcome], undefined)
  assert.ok(Number(response.trailers[headers.work]) > 0)
  assert.match(String(await openChannel(ticket)), /^HTTP\/1\.1 404 /)
})

test('a long answer whose front does not fetch the body ends when the front disconnects', async () => {
  const head = { ...headOf('/long?bytes=3000000'), channel: true as const }
  const response = await ask(head)
  assert.equal(typeof response.headers[headers.channel], 'string')
  response.on('error', () => {})
  response.destroy()
  await until(() => supervisor.report().length === 0, 'the attempt ends')
  assert.match(String(await openChannel(String(response.headers[headers.channel]))), /^HTTP\/1\.1 404 /)
})

test('without channels, and if it is short, the body follows its head', async () => {
  for (const [bytes, more] of [
    [3_000_000, {}],
    [262_144, { channel: true as const }],
  ] as const) {
    const response = await ask({ ...headOf(`/long?bytes=${bytes}`), ...more })
    assert.equal(response.headers[headers.channel], undefined)
    assert.equal((await read(response)).body.length, bytes)
  }
})
