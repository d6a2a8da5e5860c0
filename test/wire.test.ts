/** Workers that may not join, and attempts from unauthorised senders. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { disciplines } from '../src/model/discipline.ts'
import { connectToBrain } from '../src/wire/connect.ts'
import type { FrontHello, FrontWelcome } from '../src/wire/front-messages.ts'
import { type FromBrain, wireVersion } from '../src/wire/messages.ts'
import { newToken } from '../src/wire/token.ts'
import { attemptServer } from '../src/worker/attempts/attempt-server.ts'
import { SlotPool } from '../src/worker/slots/slot-pool.ts'
import { Supervisor } from '../src/worker/supervisor.ts'
import { assertWell, cli, fixtures, useLive } from './support/live.ts'

const live = useLive()
const credential = () => ({ role: 'worker', token: live.tokens.worker }) as const

function joinWith(options: string[], token = live.tokens.worker): Promise<{ code: number; said: string }> {
  const args = [cli, 'worker', '--join', live.adminUrl, '--data', live.dataDir, ...options]
  return new Promise((resolve) => {
    const env = { ...process.env, PLIMSOLL_WORKER_TOKEN: token }
    execFile(process.execPath, args, { timeout: 60_000, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
    )
  })
}

test('a worker with a wrong token exits with an error that says so', async () => {
  const { code, said } = await joinWith(['--workloads', fixtures], newToken())
  assert.equal(code, 2)
  assert.match(said, /cannot join .*: the token is wrong; the worker token is required/)
  await assertWell(live)
})

test('the token of a front does not let a worker in, and a worker is not taken for a front', async () => {
  const { code, said } = await joinWith(['--workloads', fixtures], live.tokens.front)
  assert.equal(code, 2)
  assert.match(said, /cannot join .*: this is the front token; the worker token is required/)
  const closed = Promise.withResolvers<unknown>()
  const url = new URL(live.adminUrl)
  const line = await connectToBrain<FrontWelcome, FrontHello>(
    url,
    credential(),
    closed.resolve,
    closed.resolve,
  )
  line.send({ type: 'front', version: wireVersion, id: 'f', pid: 1, code: {}, received: 0 })
  assert.equal(await closed.promise, undefined, 'it is closed without a welcome')
  assert.equal(live.state().fronts.length, 1)
})

test('a worker with other code exits with an error that names it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'plimsoll-other-'))
  try {
    const file = join(dir, 'other.ts')
    writeFileSync(file, "export default { name: 'echo', description: '', run: () => 1 }\n")
    const { code, said } = await joinWith(['--workloads', file])
    assert.equal(code, 2)
    assert.match(said, /its code of workload \S+ differs: the cluster has /)
    assert.equal(live.state().workers.length, 1)
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test('a worker of another protocol version is rejected with both versions', async () => {
  const told = Promise.withResolvers<FromBrain>()
  const line = await connectToBrain(new URL(live.adminUrl), credential(), told.resolve, () => {})
  const worker = { id: 'old', cores: 1, workPerSecond: 1, memoryMb: 1, slots: 1 }
  line.send({
    type: 'hello',
    version: 0,
    worker,
    pid: 1,
    address: { host: '', port: 0 },
    code: {},
    seq: 1,
    held: [],
  })
  assert.deepEqual(await told.promise, {
    type: 'refused',
    message: `it speaks version 0 of the protocol; this is version ${wireVersion}`,
  })
  line.close()
})

test('a connection that sends invalid messages is closed, and the cluster goes on', async () => {
  for (const nonsense of [1, null, {}, { type: 'hello' }, { type: 'report' }]) {
    const closed = Promise.withResolvers<unknown>()
    const line = await connectToBrain(new URL(live.adminUrl), credential(), () => {}, closed.resolve)
    line.send(nonsense as never)
    await closed.promise
    line.close()
  }
  await assertWell(live)
})

test('a worker accepts attempts only with the token, and without a time limit', async (t) => {
  const pool = new SlotPool({ files: [], dataDir: live.dataDir, warm: 0, memoryMb: 128, log: () => {} })
  const supervisor = new Supervisor(
    { pool, meter: 'off', cores: 1, slots: 1, send: () => {} },
    disciplines.srpt,
  )
  const server = attemptServer(supervisor, 'secret', Promise.resolve())
  t.after(async () => {
    server.close()
    server.closeAllConnections()
    await pool.close()
  })
  assert.deepEqual([server.requestTimeout, server.timeout], [0, 0])
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = async (path: string, authorization: string, head: Record<string, string> = {}) => {
    const answer = await fetch(url + path, { method: 'POST', headers: { authorization, ...head }, body: '{' })
    return [answer.status, await answer.text()]
  }
  assert.deepEqual(await ask('/attempt', 'Bearer wrong'), [401, ''])
  assert.deepEqual(await ask('/', 'Bearer secret'), [404, ''])
  for (const bytes of ['', '0', '-1', 'x', '1e9', '1', '5']) {
    const [status] = await ask('/attempt', 'Bearer secret', { 'plimsoll-head-bytes': bytes })
    assert.equal(status, 503, `plimsoll-head-bytes: ${bytes}`)
  }
})
