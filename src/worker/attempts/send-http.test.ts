import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { AnswerBroken } from '../../lib/errors.ts'
import { ByteChannels } from './byte-channels.ts'
import { sendHttp } from './send-http.ts'

const head = { status: 200, message: 'OK', headers: ['X-A', '1'] }
const usage = { work: 1500, cpuMs: 1.5, wallMs: 2, peakMemoryMb: 3, measure: 'cpu' as const }

async function receive(
  t: TestContext,
  body: Readable,
  trailers: string[] = [],
): Promise<[IncomingMessage, string]> {
  const server = createServer((_, response) => {
    const attempt = { answer: Promise.reject(), usage: Promise.resolve(usage), cancel() {} }
    attempt.answer.catch(() => {})
    sendHttp({ kind: 'http', head, body, trailers: () => trailers }, attempt, response, new ByteChannels())
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const request = get({ port: (server.address() as AddressInfo).port, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return [response, await text(response)]
}

const start = JSON.stringify(head)

test('an answer that is there at once arrives with its length and its cost in the head', async (t) => {
  const [{ headers }, body] = await receive(t, Readable.from([Buffer.from('abc'), Buffer.from('def')]), [
    'X-Sum',
    '1',
  ])
  assert.equal(body, `${start}abcdef`)
  assert.equal(headers['plimsoll-head-bytes'], `${start.length}`)
  assert.equal(headers['content-length'], `${body.length}`)
  assert.deepEqual([headers['plimsoll-work'], headers['plimsoll-trailers']], ['1500', '["X-Sum","1"]'])
})

test('an answer that arrives over time is streamed, with its cost in trailers', async (t) => {
  let parts = 0
  const body = new Readable({
    read() {
      // Two turns later, so that the first part is sent alone.
      setImmediate(() => setImmediate(() => this.push(['abc', 'def', null][parts++] ?? null)))
    },
  })
  const [{ headers, trailers }, text] = await receive(t, body, ['X-Sum', '1'])
  assert.equal(text, `${start}abcdef`)
  assert.equal(headers['plimsoll-head-bytes'], `${start.length}`)
  assert.deepEqual([trailers['plimsoll-work'], trailers['plimsoll-trailers']], ['1500', '["X-Sum","1"]'])
})

test('a long answer arrives whole', async (t) => {
  const chunks = Array.from({ length: 40 }, (_, i) => Buffer.alloc(100_000, `${i % 10}`))
  const [, body] = await receive(t, Readable.from(chunks))
  assert.equal(body, start + Buffer.concat(chunks).toString())
})

test('an answer that breaks off has its outcome in a trailer', async (t) => {
  const broken = new Readable({
    read() {
      this.push('abc')
      setImmediate(() => this.destroy(new AnswerBroken('killed', 'the program was killed')))
    },
  })
  const [{ trailers }] = await receive(t, broken)
  assert.equal(trailers['plimsoll-outcome'], 'killed')
})
