/** Remote fronts with functions, and with an existing server. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import type { Estimator } from '../../src/estimate/estimator.ts'
import { defaultMeter } from '../../src/meter/hooks.ts'
import { nominalRate } from '../../src/worker/rates.ts'
import { cable, startFront } from '../support/front-processes.ts'
import { cli, dial, open, readUntil, startLive, stopLive, until, untilIdle } from '../support/live.ts'
import { startOwn, writeJsonConfig } from '../support/own-programs.ts'

/** Estimates what the request states. */
const told: Estimator = {
  estimate({ params }) {
    const work = Number((params as { ms?: string }).ms ?? 1000) * nominalRate(defaultMeter)
    return { work, low: work, high: work, source: 'prior', reason: { code: 'fixed' }, memoryMb: 1 }
  },
  learn() {},
}

test('a job of a remote front overflows to a function with its body, and returns to the fleet if the function dies', async (t) => {
  const live = await startLive({
    ...{ estimator: told, scheduler: 'least-connections', discipline: 'fifo', slots: 1, pricePerHour: 0.1 },
    functions: { most: 2, command: [process.execPath, cli, 'function'], waitingPerHour: 1000 },
  })
  t.after(() => stopLive(live))
  const far = await startFront(t, live)
  const first = fetch(`${live.url}/gated?gate=first&ms=600000`)
  await until(() => live.state().placed === 1, 'the worker is busy')
  const answer = await fetch(`${far.url}/strict?n=21`)
  assert.equal(await answer.text(), '42')
  assert.equal(answer.headers.get('plimsoll-worker'), 'function:local')
  assert.ok(Number(answer.headers.get('plimsoll-work')) > 0)
  const body = Buffer.alloc(700_000, 'plimsoll')
  const mirrored = await fetch(`${far.url}/mirror`, { method: 'POST', body })
  assert.equal(mirrored.headers.get('plimsoll-worker'), 'function:local')
  assert.deepEqual(Buffer.from(await mirrored.arrayBuffer()), body)
  assert.equal(live.state().money.functionRequests, 2)
  await live.ledger.flush()
  const [row] = await live.ledger.recent({ workload: 'strict', limit: 1 })
  assert.deepEqual([row?.worker, row?.parameters], ['function:local', '{"n":"21"}'])

  const crashed = fetch(`${far.url}/gated?gate=second`)
  await until(() => live.state().functions.some(({ busy }) => busy), 'a function has it')
  process.kill(live.state().functions.find(({ busy }) => busy)!.pid!, 'SIGKILL')
  await until(() => live.state().waiting.length === 1, 'it is queued for the fleet')
  open(live, 'first')
  open(live, 'second')
  const again = await crashed
  assert.equal(await again.text(), 'opened')
  assert.deepEqual(
    [again.headers.get('plimsoll-worker'), again.headers.get('plimsoll-attempts')],
    ['w1', '2'],
  )
  assert.equal(await (await first).text(), 'opened')
  await untilIdle(live)
  const why = await fetch(`${live.adminUrl}/api/jobs/${answer.headers.get('plimsoll-job')}/why`)
  assert.match(await why.text(), /Sent to function:local/)
})

const program = `
  const server = require('node:http').createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => response.setHeader('plimsoll-work', '7').end(request.method + ' ' + request.url + ' ' + Buffer.concat(chunks)))
  })
  server.on('upgrade', (request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nconnection: upgrade\\r\\nupgrade: echo\\r\\n\\r\\nhello ')
    socket.pipe(socket)
  })
  server.listen(process.argv[2], '127.0.0.1')
`

test('a remote front serves an existing server, in any protocol', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-own-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'program.cjs'), program)
  const command = [process.execPath, 'program.cjs', '{port}']
  const config = writeJsonConfig(folder, { workers: { command } })
  const live = await startOwn(config)
  t.after(() => stopLive(live))
  const far = await startFront(t, live, '--config', config)
  const answer = await fetch(`${far.url}/a/b?c=d`, { method: 'POST', body: 'text' })
  assert.equal(await answer.text(), 'POST /a/b?c=d text')
  assert.equal(answer.headers.get('plimsoll-work'), '7')
  await (await fetch(`${far.url}/a/b?c=d`)).text()
  for (const url of [far.url, live.url]) {
    const quote = (await (await fetch(`${url}/-/estimate/a/b?c=d`)).json()) as Record<string, unknown>
    assert.deepEqual([quote.source, quote.work], ['memo', 7])
  }
  const socket = dial({ ...live, url: far.url })
  socket.write('GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  await readUntil(socket, /hello /)
  socket.write('bytes')
  await readUntil(socket, /bytes/)
  assert.equal(live.state().placed, 1)
  socket.destroy()
  await untilIdle(live)
})

test('requests of a front that was declared lost are repeated when it returns', async (t) => {
  const own = await startLive({ frontGraceMs: 1 })
  t.after(() => stopLive(own))
  const way = await cable(t, own.adminUrl)
  const far = await startFront(t, { ...own, adminUrl: way.url })
  const running = fetch(`${far.url}/gated?gate=again`)
  await until(() => own.state().placed === 1, 'it runs')
  const [first] = own.state().workers[0]!.jobs.map(({ job }) => job)
  way.cut()
  await until(() => own.state().jobs === 0, 'the front is declared lost')
  way.mend()
  await until(() => own.state().placed === 1, 'it runs again')
  open(own, 'again')
  const answer = await running
  assert.equal(await answer.text(), 'opened')
  assert.notEqual(answer.headers.get('plimsoll-job'), first)
})
