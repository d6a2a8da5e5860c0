/** Streaming of request bodies and answers of an existing server, and what happens when they break off. */

import assert from 'node:assert/strict'
import { type RequestListener, request } from 'node:http'
import test, { afterEach } from 'node:test'
import { headers } from '../src/wire/messages.ts'
import { begin, fail, finish } from './support/fake-worker.ts'
import { dial, keptBodies, problemOf, readAll, readUntil, sendRaw, until, untilIdle } from './support/live.ts'
import { useOwn } from './support/own-live.ts'

const maxBodyBytes = 3_000_000
let release = () => {}

const program: RequestListener = (incoming, response) => {
  if (incoming.url === '/echo') {
    response.flushHeaders()
    incoming.pipe(response)
  } else if (incoming.url?.startsWith('/slow')) {
    response.writeHead(200, { 'content-type': incoming.headers.accept ?? 'text/plain' })
    response.write('begun')
    release = () => response.end(' and ended')
  } else if (incoming.url === '/deaf') response.end('not interested')
  else incoming.resume().on('end', () => response.end('ok'))
}
const own = useOwn(program, { maxBodyBytes })
/** Does not wait for short answers to be complete. */
const eager = useOwn(program, {}, { frontLimits: { holdMs: 1 } })
/** Does not wait for clients that pause. */
const impatient = useOwn(program, {}, { frontLimits: { requestMs: 400 } })
afterEach(async () => {
  own.fake.instead = undefined
  for (const each of [own, eager, impatient]) await untilIdle(each)
  await until(() => keptBodies().length === 0, 'no body is kept')
})

for (const accept of ['text/plain', 'text/event-stream', 'Text/Event-Stream; charset=utf-8']) {
  test(`a slow answer of type ${accept} is streamed`, async () => {
    const answer = await fetch(`${eager.url}/slow`, { headers: { accept } })
    const reader = answer.body!.getReader()
    assert.equal(Buffer.from((await reader.read()).value!).toString(), 'begun')
    assert.equal(answer.headers.get('plimsoll-work'), null)
    release()
    assert.equal(Buffer.from((await reader.read()).value!).toString(), ' and ended')
    assert.equal((await reader.read()).done, true)
  })
}

test('request body and answer stream in both directions at once', async () => {
  const heard: string[] = []
  await new Promise<void>((resolve, reject) => {
    const call = request(`${eager.url}/echo`, { method: 'PUT' }, (answer) => {
      answer.setEncoding('utf8').on('data', (text: string) => {
        heard.push(text)
        if (heard.length < 3) call.write(`part ${heard.length}`)
        else call.end()
      })
      answer.on('end', resolve).on('error', reject)
    })
    call.on('error', reject)
    call.write('part 0')
  })
  assert.deepEqual(heard, ['part 0', 'part 1', 'part 2'])
})

test('an answer that breaks off while it is held is retried and arrives complete', async () => {
  own.fake.instead = ({ response }) => {
    own.fake.instead = undefined
    begin(response, { status: 200, message: 'OK', headers: ['content-length', '100'] })
    response.write('half', () => response.destroy())
  }
  const answer = await fetch(`${own.url}/x`)
  assert.deepEqual([await answer.text(), answer.headers.get('plimsoll-attempts')], ['ok', '2'])
})

test('an answer whose trailer reports that it is incomplete is retried', async () => {
  own.fake.instead = ({ response }) => {
    own.fake.instead = undefined
    begin(response, { status: 200, message: 'OK', headers: [] })
    response.write('half')
    response.addTrailers({ [headers.outcome]: 'killed', [headers.work]: '5' })
    response.end()
  }
  const answer = await fetch(`${own.url}/x`)
  assert.deepEqual([await answer.text(), answer.headers.get('plimsoll-attempts')], ['ok', '2'])
})

test('an answer that breaks off after its beginning was sent is aborted for the client too', async () => {
  own.fake.instead = ({ response }) => {
    own.fake.instead = undefined
    begin(response, { status: 200, message: 'OK', headers: [] })
    response.write(Buffer.alloc(400_000, 'x'), () => response.destroy())
  }
  const attempts = own.fake.attempts.length
  const answer = await fetch(`${own.url}/x`)
  await assert.rejects(answer.arrayBuffer())
  assert.equal(own.fake.attempts.length, attempts + 1)
})

test('an answer before the body was read is passed on, and the connection stays usable', async () => {
  const text = await sendRaw(
    own,
    `PUT /deaf HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n`,
    Buffer.alloc(200_000, 'x'),
    'GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  )
  assert.match(text, /not interested.*HTTP\/1\.1 200 OK.*\r\nok$/s)
})

test('a body with too large a length is rejected before it arrives, one without a length while it arrives', async () => {
  const early = await sendRaw(
    own,
    `PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: ${maxBodyBytes + 1}\r\n\r\n`,
  )
  assert.match(early, /^HTTP\/1\.1 413 .*body-too-large.*larger than the 3000000 bytes/s)
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(100_000))
    },
  })
  const init: RequestInit & { duplex: 'half' } = { method: 'PUT', body, duplex: 'half' }
  assert.equal((await problemOf(fetch(`${own.url}/x`, init), 413)).code, 'body-too-large')
})

for (const bytes of [70_000, 2_000_000]) {
  test(`a client that stalls after ${bytes} bytes of its body gets a 408, and blocks nothing`, async () => {
    const socket = dial(impatient)
    socket.write('PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2500000\r\n\r\n')
    socket.write(Buffer.alloc(bytes, 'x'))
    assert.match(await readAll(socket), /^HTTP\/1\.1 408 .*too-slow/s)
  })

  test(`a client that hangs up after ${bytes} bytes of its body leaves nothing behind`, async () => {
    const attempts = own.fake.attempts.length
    const socket = dial(own)
    socket.write('PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2500000\r\n\r\n')
    socket.write(Buffer.alloc(bytes, 'x'))
    await until(() => own.fake.attempts.length > attempts, 'the attempt has begun')
    socket.destroy()
    await untilIdle(own)
    assert.equal(own.state().workers[0]!.suspect, false)
  })
}

test('a client that hangs up within a short body blocks nothing', async () => {
  const socket = dial(own)
  socket.write('POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf')
  await new Promise((resolve) => setImmediate(resolve))
  socket.destroy()
  assert.equal((await fetch(`${own.url}/x`)).status, 200)
})

test('a large body is sent again from its beginning while it still arrives', async () => {
  const half = Buffer.alloc(1_200_000, 'a')
  const again = Promise.withResolvers<void>()
  own.fake.instead = ({ request: incoming, response }) => {
    let bytes = 0
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes === half.length) fail(response, 'killed', 'gone')
    })
    own.fake.instead = async ({ request: second, response: answer }) => {
      again.resolve()
      const came = Buffer.concat(await second.toArray())
      begin(answer, { status: 200, message: 'OK', headers: [] })
      answer.write(`${came.length} ${came.equals(Buffer.concat([half, half]))}`)
      finish(answer, own.fake.cost)
    }
  }
  const socket = dial(own)
  socket.write(
    `PUT /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${2 * half.length}\r\n\r\n`,
  )
  socket.write(half)
  await again.promise
  socket.write(half)
  assert.match(await readAll(socket), /2400000 true/)
})

test('a client that hangs up during its answer cancels the job', async () => {
  const socket = dial(eager)
  socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
  await readUntil(socket, /begun/)
  socket.destroy()
  await untilIdle(eager)
})
