/** Clients that hang up, workers that die and clusters that stop while jobs are queued, run and stream. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import {
  assertWell,
  descendants,
  dial,
  type Live,
  open,
  problemOf,
  readAll,
  readUntil,
  startLive,
  stopLive,
  until,
  untilIdle,
  useLive,
} from '../support/live.ts'
import { isAlive } from '../support/processes.ts'

const live = useLive({ slots: 2 })
/** Disconnects clients that do not read their answers, of which it keeps little. */
const mb = 1024 * 1024
const impatient = useLive({
  slots: 2,
  frontLimits: { stallMs: 2_000, answerMemoryBytes: 8 * mb, answerDiskBytes: 16 * mb },
})
const host = 'Host: x\r\n\r\n'
const pidOf = (cluster: Live) => cluster.state().workers[0]!.pid!

test('a client that hangs up while its job runs ends the job and its slot', async () => {
  const socket = dial(live)
  socket.write(`GET /endless?mark=runs HTTP/1.1\r\n${host}`)
  const mark = join(live.dataDir, 'runs')
  await until(() => existsSync(mark) && readFileSync(mark, 'utf8') !== '', 'the job runs')
  const slot = Number(readFileSync(mark, 'utf8'))
  assert.ok(descendants().includes(slot))
  socket.destroy()
  await untilIdle(live)
  await until(() => !descendants().includes(slot), 'the slot has ended')
  await assertWell(live)
})

test('a client that hangs up while its job is queued removes the job from the queue', async () => {
  const runs = fetch(`${live.url}/gated?gate=w1`)
  const others = [dial(live), dial(live)]
  await until(() => live.state().placed === 1, 'one runs')
  for (const socket of others) socket.write(`GET /endless HTTP/1.1\r\n${host}`)
  await until(() => live.state().jobs === 3, 'the others are queued')
  for (const socket of others) socket.destroy()
  await until(() => live.state().jobs === 1, 'they have left the queue')
  open(live, 'w1')
  assert.equal(await (await runs).text(), 'opened')
  await untilIdle(live)
})

test('a client that hangs up ends all its pipelined jobs', async () => {
  const socket = dial(live)
  socket.write(
    `GET /gated?gate=x HTTP/1.1\r\n${host}GET /endless HTTP/1.1\r\n${host}GET /echo HTTP/1.1\r\n${host}`,
  )
  await until(() => live.state().jobs >= 2, 'the jobs have arrived')
  socket.destroy()
  await untilIdle(live)
  await assertWell(live)
})

test('a client that hangs up in the middle of its answer ends the job', async () => {
  const socket = dial(live)
  socket.write(`GET /flood?mb=4000 HTTP/1.1\r\n${host}`)
  await readUntil(socket, /\r\n\r\n/)
  socket.destroy()
  await untilIdle(live)
  await assertWell(live)
})

test('a client that does not read its answer is disconnected, and its answer is not buffered without limit', async () => {
  const socket = dial(impatient)
  socket.write(`GET /flood?mb=4000 HTTP/1.1\r\n${host}`)
  await new Promise((resolve) => socket.once('readable', resolve))
  // Counts all buffered data, collected or not; backpressure bounds it.
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const isOver = () => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    return impatient.state().jobs === 0
  }
  await until(isOver, 'the job is ended')
  assert.ok(most < 30 * mb, `grew by ${most} bytes`)
  await readAll(socket)
  await untilIdle(impatient)
  await assertWell(impatient)
})

test('a large answer arrives complete', async () => {
  const answer = await fetch(`${live.url}/flood?mb=64`)
  let bytes = 0
  let wrong = 0
  for await (const part of answer.body!) {
    for (let i = 0; i < part.length; i += 97) if (part[i] !== ((bytes + i) % 65_536) % 251) wrong++
    bytes += part.length
  }
  assert.deepEqual([bytes, wrong], [64 * 1024 * 1024, 0])
  await untilIdle(live)
})

test('an answer that fails after it began is aborted, so that it does not look complete', async () => {
  for (const how of ['throw', 'exit']) {
    const answer = await fetch(`${live.url}/flood?mb=2&finally=${how}`)
    assert.equal(answer.status, 200)
    await assert.rejects(answer.arrayBuffer(), how)
    await untilIdle(live)
  }
  const old = dial(live)
  old.write('GET /flood?mb=2&finally=throw HTTP/1.0\r\n\r\n')
  const reset = new Promise<NodeJS.ErrnoException>((resolve) => old.once('error', resolve))
  await readAll(old)
  assert.equal((await reset).code, 'ECONNRESET')
  await assertWell(live)
})

test('an answer that fails before any of it was sent becomes a problem document, and is retried only after a crash', async () => {
  const thrown = await problemOf(fetch(`${live.url}/flood?mb=0&finally=throw`), 500)
  assert.deepEqual([thrown.code, thrown.headers.get('plimsoll-attempts')], ['workload-error', '1'])
  const crashed = await problemOf(fetch(`${live.url}/flood?mb=0&finally=exit`), 502)
  assert.deepEqual([crashed.code, crashed.headers.get('plimsoll-attempts')], ['poison', '3'])
  await assertWell(live)
})

test('when a worker is killed in the middle of an answer, the answer is aborted and the next worker serves', async () => {
  const answer = await fetch(`${live.url}/flood?mb=2&finally=wait`)
  process.kill(pidOf(live), 'SIGKILL')
  await assert.rejects(answer.arrayBuffer())
  await untilIdle(live)
  await assertWell(live)
})

test('a stopping cluster answers running jobs and rejects new requests', async () => {
  const mine = await startLive({ workerGraceMs: 60_000 })
  try {
    const runs = fetch(`${mine.url}/gated?gate=s`)
    await until(() => mine.state().placed === 1, 'it runs')
    const stopped = mine.stop(60_000)
    const { code, headers } = await problemOf(fetch(`${mine.url}/echo`), 503)
    assert.equal(code, 'stopping')
    // A job may run until the limit, and then the next cluster must start.
    const retryAfter = Number(headers.get('retry-after'))
    assert.ok(retryAfter > 55 && retryAfter < 180, `${retryAfter}`)
    assert.equal((await fetch(`${mine.url}/-/ready`)).status, 503)
    open(mine, 's')
    assert.equal(await (await runs).text(), 'opened')
    await stopped
    await assert.rejects(fetch(mine.url))
    // Its worker exited without complaint.
    assert.deepEqual(mine.lines, [])
  } finally {
    await stopLive(mine)
  }
})

test('after the stop timeout, jobs that still run are reported, and no process is left', async () => {
  const mine = await startLive()
  try {
    const runs = problemOf(fetch(`${mine.url}/endless`), 503)
    await until(() => mine.state().placed === 1, 'it runs')
    const processes = [pidOf(mine), ...descendants(pidOf(mine))]
    await mine.stop(20)
    assert.equal((await runs).code, 'stopping')
    await until(() => !processes.some(isAlive), 'no process of it is left')
  } finally {
    await stopLive(mine)
  }
})
