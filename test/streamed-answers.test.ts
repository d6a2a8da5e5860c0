/** Answers that a workload streams reach the client chunk by chunk, while the workload still runs. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { dial, open, readAll, readUntil, until, untilIdle, useLive } from './support/live.ts'

const files = [join(import.meta.dirname, 'fixtures', 'streamed.ts')]
const live = useLive({ files, slots: 8, cacheBytes: 1_000_000, coalesce: true })

const ask = (kind: string, gate: string) => fetch(`${live.url}/streamed?kind=${kind}&gate=${gate}`)

/** Reads the first chunk, opens the gate, and reads the rest. */
async function firstAndRest(response: Response, gate: string): Promise<[string, string]> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const { value: first = '' } = await reader.read()
  open(live, gate)
  let rest = ''
  for (let step = await reader.read(); !step.done; step = await reader.read()) rest += step.value
  return [first, rest]
}

for (const kind of ['generator', 'node', 'web']) {
  test(`a streamed answer begins before its workload has ended: ${kind}`, async () => {
    const response = await ask(kind, `gate-${kind}`)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.ok(response.headers.get('plimsoll-job'))
    assert.deepEqual(await firstAndRest(response, `gate-${kind}`), ['first,', 'last'])
  })
}

test('a streamed Response keeps its status, headers and cookies', async () => {
  const response = await ask('response', 'gate-response')
  assert.equal(response.status, 203)
  assert.equal(response.headers.get('x-own'), 'yes')
  assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2'])
  assert.deepEqual(await firstAndRest(response, 'gate-response'), ['first,', 'last'])
})

test('a Response whose body is complete is sent as a whole, with its length', async () => {
  const response = await ask('json', 'none')
  assert.equal(response.status, 201)
  assert.equal(response.headers.get('content-type'), 'application/json')
  assert.equal(response.headers.get('content-length'), '14')
  assert.deepEqual(await response.json(), { whole: true })
})

test('the head of an event stream does not wait for the first event', async () => {
  const response = await ask('events', 'gate-events')
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  open(live, 'gate-events')
  assert.equal(await response.text(), 'data: now\n\n')
})

test('an error in the middle of a stream breaks the connection off', async () => {
  const socket = dial(live)
  socket.write('GET /streamed?kind=throws&gate=gate-throws HTTP/1.1\r\nHost: x\r\n\r\n')
  const begun = await readUntil(socket, /first,/)
  const rest = readAll(socket)
  open(live, 'gate-throws')
  const received = begun + (await rest)
  assert.doesNotMatch(received, /\r\n0\r\n/)
  assert.doesNotMatch(received, /secret/)
  const id = /plimsoll-job: (\S+)/.exec(begun)![1]!
  const story = await (await fetch(`${live.adminUrl}/api/jobs/${id}/why`)).text()
  assert.match(story, /the secret of the drip/)
})

test('a client that hangs up in the middle of a stream ends the job', async () => {
  const socket = dial(live)
  socket.write('GET /streamed?kind=generator&gate=never HTTP/1.1\r\nHost: x\r\n\r\n')
  await readUntil(socket, /first,/)
  socket.destroy()
  await untilIdle(live)
})

test('a deterministic stream is streamed to the first client and cached for the next', async () => {
  const response = await ask('generator', 'kept')
  assert.deepEqual(await firstAndRest(response, 'kept'), ['first,', 'last'])
  await untilIdle(live)
  const again = await ask('generator', 'kept')
  assert.equal(again.headers.get('plimsoll-cache'), 'hit')
  assert.equal(await again.text(), 'first,last')
})

test('clients that share a job receive its streamed answer as a whole', async () => {
  const answers = [ask('late', 'kept-shared'), ask('late', 'kept-shared')]
  await until(() => live.state().cache!.shared > 0, 'the second client has joined')
  open(live, 'kept-shared')
  for (const answer of answers) assert.equal(await (await answer).text(), 'data: now\n\n')
})
