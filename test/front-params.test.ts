/** Parameters of workloads: their limits, and how they are checked without delaying other requests. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import {
  assertWell,
  dial,
  fixtures,
  inputs,
  open,
  problemOf,
  readAll,
  readUntil,
  until,
  untilIdle,
  useLive,
  workerPid,
} from './support/live.ts'

const live = useLive({ files: [fixtures, inputs] })
/** Allows long parameters everywhere. */
const generous = useLive({ files: [fixtures, inputs], frontLimits: { paramsBytes: 1024 * 1024 } })
const limit = 64 * 1024

const post = (path: string, params: unknown, url = live.url) =>
  fetch(url + path, {
    method: 'POST',
    body: JSON.stringify(params),
    headers: { 'content-type': 'application/json' },
  })
/** Parameters whose JSON has this length. */
const ofLength = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })

test('parameters above 64 KiB are a 413 that names the limit and how to raise it', async () => {
  assert.equal((await post('/echo', ofLength(limit))).status, 200)
  const { code, detail } = await problemOf(post('/echo', ofLength(limit + 1)), 413)
  assert.equal(code, 'params-too-large')
  assert.equal(
    detail,
    'The parameters are larger than the 65536 bytes that workload echo allows; ' +
      'its definition can allow more with maxParamsBytes, and the operator with --max-params.',
  )
  assert.equal((await post('/echo', ofLength(limit + 1), generous.url)).status, 200)
  await problemOf(post('/-/estimate/echo', ofLength(limit + 1)), 413)
})

test('binary data that is sent as a form is refused with the field that is missing', async () => {
  const form = (body: Uint8Array) =>
    fetch(`${live.url}/mirror`, {
      method: 'POST',
      body: body as unknown as string,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
  for (const [bytes, status] of [
    [[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], 400],
    [[0x61, 0x3d, 0xff], 400],
    [Array<number>(limit + 1).fill(0), 413],
  ] as const) {
    const { detail } = await problemOf(form(Uint8Array.from(bytes)), status)
    assert.match(detail, /-H 'content-type: application\/octet-stream'/)
  }
  const text = await fetch(`${live.url}/echo`, { method: 'POST', body: new URLSearchParams({ a: 'ä\n' }) })
  assert.equal(text.status, 200)
})

test('an address with unencoded characters is refused with the reason', async () => {
  const socket = dial(live)
  socket.end(Buffer.from('GET /echo?a=ä HTTP/1.1\r\nHost: x\r\n\r\n'))
  assert.match(await readAll(socket), /^HTTP\/1\.1 400 Bad Request\r\n.*must be percent-encoded/s)
  const header = dial(live)
  header.end('GET /echo HTTP/1.1\r\nHost: x\r\nA B: c\r\n\r\n')
  assert.match(await readAll(header), /well-formed HTTP request: Invalid header token/)
})

test('the query counts too', async () => {
  assert.equal((await post('/echo?b=1', ofLength(limit - 3))).status, 200)
  await problemOf(post('/echo?b=1', ofLength(limit - 2)), 413)
})

test('a workload may allow longer parameters, and its limit is named', async () => {
  const params = ofLength(3_000_000)
  const answer = (await (await post('/roomy?b=1', params)).json()) as object
  assert.deepEqual(answer, { params: { b: '1', ...params }, attempt: 1 })
  const { detail } = await problemOf(post('/roomy', ofLength(4 * 1024 * 1024 + 1)), 413)
  assert.match(detail, /than the 4194304 bytes that workload roomy allows; maxParamsBytes in its definition/)
})

test('a JSON body is not read beyond the limit', async () => {
  const head = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const announced = dial(live)
  announced.write(`${head}Content-Length: 16000000\r\n\r\n`)
  await readUntil(announced, /^HTTP\/1.1 413 .*params-too-large/s)
  announced.destroy()
  const chunked = dial(live)
  chunked.write(
    `${head}Transfer-Encoding: chunked\r\n\r\n${(limit + 1).toString(16)}\r\n${'{'.repeat(limit + 1)}`,
  )
  await readUntil(chunked, /^HTTP\/1.1 413 .*params-too-large/s)
  chunked.destroy()
  // Data is not limited by it.
  const data = await fetch(`${live.url}/mirror`, { method: 'POST', body: 'x'.repeat(limit + 1) })
  assert.equal((await data.text()).length, limit + 1)
  await assertWell(live)
})

test('64 KiB of unknown names give a short answer', async () => {
  const names = Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 1])
  const answer = await post('/strict', Object.fromEntries(names))
  assert.equal(answer.status, 400)
  assert.ok((await answer.text()).length < 2_000)
})

test('while the parameters of a request are checked, others are served', { timeout: 60_000 }, async () => {
  const gate = join(live.dataDir, 'checks')
  const blocked = post('/blocked', { gate, ...ofLength(100_000) })
  // The check blocks its thread until the gate is open.
  for (let i = 0; i < 20; i++) assert.equal((await fetch(`${live.url}/-/health`)).status, 200)
  open(live, 'checks')
  assert.equal(await (await blocked).text(), 'checked')
})

test('long parameters are sent again in full after the worker was killed', async () => {
  const socket = dial(live)
  const body = JSON.stringify({ gate: 'long', ...ofLength(50_000) })
  socket.write(
    'POST /gated HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n' +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  const text = readAll(socket)
  await until(() => live.state().placed === 1, 'it runs')
  const killed = workerPid()
  process.kill(killed, 'SIGKILL')
  await until(() => live.state().workers.every(({ pid }) => pid !== killed), 'the worker is lost')
  open(live, 'long')
  assert.match(await text, /^HTTP\/1.1 200 .*opened/s)
  await untilIdle(live)
})
