/** How many programs run, which of them receives a job, and that none is left behind. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { stateOf, until } from '../slots/testing/use-pool.ts'
import { read, usePrograms } from './testing/use-programs.ts'

test('each job has a program to itself, a warm program is kept, and surplus programs end', async (t) => {
  const { pool, start } = await usePrograms(t, {}, { surplusMs: 50, slots: 4 })
  const runs = ['a', 'b', 'c'].map(() => start('/hang'))
  await until(() => runs.every(({ pid }) => pid !== undefined), 'all run')
  assert.equal(new Set(runs.map(({ pid }) => pid)).size, 3)
  await until(() => pool.size === 4, 'a warm program is ready')
  for (const run of runs) run.cancel()
  await Promise.all(runs.map((run) => run.ended))
  await until(() => pool.size === 1, 'the surplus has ended')
})

test('a job waits when the maximum number of programs is busy', async (t) => {
  const { pool, start, lines } = await usePrograms(t, {}, { slots: 2 })
  const runs = [start('/hang'), start('/hang')]
  const waits = start('/pid')
  await until(() => lines.filter((line) => line.endsWith('hangs')).length === 2, 'both run')
  assert.equal(pool.size, 2)
  assert.equal(waits.pid, undefined)
  runs[0]!.cancel()
  assert.equal((await read(waits)).kind, 'http')
})

test('programs with a concurrency above 1 receive several jobs, the least busy program first', async (t) => {
  const { pool, start } = await usePrograms(t, { concurrency: 2 }, { warm: 2, slots: 3 })
  await until(() => pool.size === 2, 'two programs run')
  const runs = [1, 2, 3, 4].map(() => start('/hang'))
  await until(() => runs.every(({ pid }) => pid !== undefined), 'all run')
  const pids = runs.map(({ pid }) => pid)
  assert.equal(new Set(pids).size, 2)
  assert.equal(pids.filter((pid) => pid === pids[0]).length, 2)
  assert.equal(pool.size, 2)
  const fifth = start('/pid')
  assert.equal((await read(fifth)).kind, 'http')
  assert.ok(!pids.includes(fifth.pid))
})

test('a program that stopped listening is replaced, and its job is sent to another', async (t) => {
  const script = `
    const server = require('http').createServer((q, s) => {
      let body = ''
      q.on('data', (chunk) => { body += chunk })
      q.on('end', () => s.end(body || String(process.pid)))
      if (q.url === '/deaf') server.close()
    }).listen(process.env.PORT)
    setInterval(() => {}, 1e6)`
  const { ask, lines } = await usePrograms(t, {
    command: [process.execPath, '-e', script],
    healthEveryMs: 1e6,
  })
  const pid = (await ask('/deaf')).body!
  const askAnew = () => ask('/', { repeatable: false })
  const others = await Promise.all([askAnew(), askAnew(), askAnew()])
  assert.ok(others.every(({ kind, body }) => kind === 'http' && body !== pid))
  const deaf = /^slot 1: nothing listens on port \d+ any more/
  await until(() => lines.some((line) => deaf.test(line)), 'it is reported')
})

async function killParent(t: TestContext, env: NodeJS.ProcessEnv): Promise<void> {
  const parent = spawn(process.execPath, [join(import.meta.dirname, 'testing/parent.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  t.after(() => parent.kill('SIGKILL'))
  const [line] = await Promise.race([once(parent.stdout, 'data'), once(parent, 'exit')])
  const { pids, socket } = JSON.parse(String(line)) as { pids: number[]; socket: string }
  assert.equal(pids.length, 4, 'a watchdog, a running program, a stopped one, and a child')
  for (const pid of pids) assert.notEqual(stateOf(pid), undefined)
  assert.ok(existsSync(socket))
  parent.kill('SIGKILL')
  await until(() => pids.every((pid) => stateOf(pid) === undefined), 'no process is left')
  await until(() => !existsSync(dirname(socket)), 'the folder of sockets is removed')
}

test('no program outlives a killed worker: running or stopped', (t) => killParent(t, {}))

test('no program outlives a killed worker without death signals', (t) =>
  killParent(t, { PATH: '/nowhere:/bin/none' }))

test('the program of a paused job keeps running while the job that preempted it waits for a program', async (t) => {
  const { start } = await usePrograms(t, {}, { slots: 1 })
  const paused = start('/spin?ms=1e9')
  await until(() => paused.cpuMs() > 5, 'the job runs')
  const waits = start('/pid')
  paused.pause()
  assert.equal(paused.paused, true)
  assert.notEqual(stateOf(paused.pid!), 'T')
  waits.cancel()
  await until(() => stateOf(paused.pid!) === 'T', 'it is stopped')
  paused.resume()
  await until(() => stateOf(paused.pid!) !== 'T', 'it continues')
})
