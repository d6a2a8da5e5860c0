/** `plimsoll up`: brain and fronts in processes of their own. What clients see when one of them dies or is replaced. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { ClusterState } from '../../src/live/cluster.ts'
import { cli, problemOf, until } from '../support/live.ts'
import { descendants, isAlive, workersOf } from '../support/processes.ts'
import { steadyLoad } from '../support/steady-load.ts'
import { startUp, type Up, untilState } from '../support/up.ts'

const kill = (pid: number) => process.kill(pid, 'SIGKILL')
const text = async (answer: Promise<Response>) => (await answer).text()
const get = ({ url }: Up, path: string) => fetch(`${url}${path}`, { headers: { connection: 'close' } })
const jobs = (up: Up, count: number) =>
  untilState(up, (state) => state.jobs === count, `it has ${count} jobs`)
const isBrain = ({ command }: { command: string }) => command.includes(' --supervised ')
const idle = { timeout: 120_000 }

test('requests are read in another process than the brain', idle, async (t) => {
  const up = await startUp(t)
  const [front, ...more] = (await up.state()).fronts
  assert.deepEqual([front?.pid, more.length], [up.fronts()[0], 0])
  assert.notEqual(front?.pid, up.brain())
  assert.equal(await text(get(up, '/strict?n=4')), '8')
})

test(
  'a killed brain is restarted, and requests that ran or arrived meanwhile are answered',
  idle,
  async (t) => {
    const up = await startUp(t)
    for (let round = 1; round <= 3; round++) {
      const running = Array.from({ length: 4 }, () => get(up, `/gated?gate=g${round}`))
      await jobs(up, 4)
      const brain = up.brain()
      kill(brain)
      await until(() => !isAlive(brain), 'it is dead')
      const later = Array.from({ length: 4 }, (_, n) => get(up, `/strict?n=${n}`))
      up.open(`g${round}`)
      assert.deepEqual(await Promise.all(running.map(text)), Array(4).fill('opened'))
      assert.deepEqual(await Promise.all(later.map(text)), ['0', '2', '4', '6'])
      await untilState(up, ({ ready, jobs: open }) => ready === 1 && open === 0, 'the brain is back')
      assert.notEqual(up.brain(), brain)
    }
    assert.equal(up.fronts().length, 1)
    assert.equal(
      up.lines.filter((line) => /^brain: was killed by SIGKILL; it is restarted/.test(line)).length,
      3,
    )
  },
)

test('the workers of a killed brain serve the next one', idle, async (t) => {
  const up = await startUp(t, '--min', '2', '--max', '3')
  await untilState(up, ({ ready }) => ready === 2, 'both workers have joined')
  const workers = () => workersOf(up.process.pid!).map(({ pid }) => pid)
  const before = workers()
  for (let round = 1; round <= 2; round++) {
    const brain = up.brain()
    kill(brain)
    await until(() => !isAlive(brain), 'it is dead')
    await untilState(up, ({ ready }) => ready === 2, 'both have joined the next brain')
    assert.equal(await text(get(up, '/strict?n=4')), '8')
    assert.deepEqual(workers(), before)
  }
  // What is launched from now on has other names.
  kill(before[0]!)
  const names = ({ workers: all }: ClusterState) => all.map(({ id }) => id).sort()
  await untilState(up, (state) => names(state).join() === 'w2,w3', 'the killed one is replaced by w3')
})

test('what runs when the brain dies goes on, and is answered under the next one', idle, async (t) => {
  const { readFileSync } = await import('node:fs')
  const { join } = await import('node:path')
  const up = await startUp(t, '--workloads', join(import.meta.dirname, '..', 'fixtures', 'gates.ts'))
  const running = ['a', 'b'].map((mark) => get(up, `/gate?gate=g&mark=${mark}`))
  const post = (path: string) => fetch(`${up.url}${path}`, { method: 'POST' })
  const once = ['c', 'd'].map((mark) => post(`/gate-once?gate=g&mark=${mark}`))
  const long = get(up, '/gate-stream?gate=h&mark=e')
  const starts = () =>
    ['a', 'b', 'c', 'd', 'e'].map((mark) => {
      try {
        return readFileSync(join(up.dataDir, mark), 'utf8')
      } catch {
        return ''
      }
    })
  const stream = (await long).body!.pipeThrough(new TextDecoderStream()).getReader()
  assert.equal((await stream.read()).value, 'begun')
  await until(() => starts().join('') === '.....', 'all have started')
  for (let round = 1; round <= 2; round++) {
    kill(up.brain())
    await untilState(
      up,
      ({ jobs: open, ready }) => open === 5 && ready === 1,
      'the next brain has adopted them',
    )
  }
  up.open('g')
  assert.deepEqual(await Promise.all([...running, ...once].map(text)), Array(4).fill('opened'))
  up.open('h')
  assert.equal((await stream.read()).value, 'ended')
  assert.equal((await stream.read()).done, true)
  assert.deepEqual(starts(), Array(5).fill('.'))
})

test('a worker that is launched while its brain dies joins the next one', idle, async (t) => {
  const up = await startUp(t)
  const [first] = workersOf(up.process.pid!)
  kill(first!.pid)
  await until(() => workersOf(up.process.pid!).some(({ pid }) => pid !== first!.pid), 'another boots')
  kill(up.brain())
  const [second] = workersOf(up.process.pid!)
  await untilState(up, ({ ready }) => ready === 1, 'it has joined')
  assert.deepEqual(
    workersOf(up.process.pid!).map(({ pid }) => pid),
    [second!.pid],
  )
})

test(
  'no worker is left when the supervisor is killed without a brain, or stopped without one',
  idle,
  async (t) => {
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const up = await startUp(t)
      // The second restart waits.
      for (let i = 0; i < 2; i++) {
        const brain = up.brain()
        kill(brain)
        await until(() => !isAlive(brain), 'it is dead')
        if (i === 0) await until(() => descendants(up.process.pid!).some(isBrain), 'it is restarted')
      }
      const all = descendants(up.process.pid!)
      assert.ok(!all.some(isBrain) && workersOf(up.process.pid!).length === 1)
      up.process.kill(signal)
      await until(() => !all.some(({ pid }) => isAlive(pid)), 'all have ended')
    }
  },
)

test('a worker that is stopped ends with the supervisor', idle, async (t) => {
  const up = await startUp(t)
  const all = descendants(up.process.pid!).map(({ pid }) => pid)
  process.kill(workersOf(up.process.pid!)[0]!.pid, 'SIGSTOP')
  up.process.kill('SIGKILL')
  await until(() => !all.some(isAlive), 'all have ended')
})

test('a brain that is killed under load fails no request', idle, async (t) => {
  const up = await startUp(t)
  const load = steadyLoad(`${up.url}/strict?n=21`, 2, '42')
  for (let round = 0; round < 3; round++) {
    const { answered } = load
    await until(() => load.answered > answered + 20, 'requests are answered')
    kill(up.brain())
  }
  const { answered } = load
  await until(() => load.answered > answered + 20, 'requests are answered again')
  await load.stop()
  assert.deepEqual(load.errors, [])
})

test('connections to a killed front are accepted by the next one', idle, async (t) => {
  const up = await startUp(t)
  const [front] = up.fronts()
  kill(front!)
  await until(() => !isAlive(front!), 'it is dead')
  assert.equal(await text(get(up, '/strict?n=4')), '8')
  assert.equal(up.fronts().length, 1)
})

test('if the supervisor is killed, no process is left and the port is free', idle, async (t) => {
  const up = await startUp(t)
  const all = descendants(up.process.pid!).map(({ pid }) => pid)
  assert.ok(all.length >= 3)
  up.process.kill('SIGKILL')
  await until(() => !all.some(isAlive), 'all have ended')
  const next = await startUp(t, '--port', new URL(up.url).port)
  assert.equal(next.url, up.url)
})

test(
  'SIGTERM lets requests finish, refuses new ones, and ends all processes with code 0',
  idle,
  async (t) => {
    const up = await startUp(t, '--stop-after', '60')
    const all = descendants(up.process.pid!).map(({ pid }) => pid)
    const running = get(up, '/gated?gate=g')
    await jobs(up, 1)
    up.process.kill('SIGTERM')
    await until(() => up.lines.some((line) => line.startsWith('Stopping')), 'it stops')
    assert.equal((await problemOf(get(up, '/strict?n=1'), 503)).code, 'stopping')
    const exited = once(up.process, 'exit')
    up.open('g')
    assert.equal(await text(running), 'opened')
    assert.deepEqual(await exited, [0, null])
    assert.ok(!all.some(isAlive))
  },
)

test('a mistake in the options ends it with its message and code 2', idle, async (t) => {
  const up = await startUp(t)
  const { port } = new URL(up.url)
  await assert.rejects(startUp(t, '--port', port), new RegExp(`--port = ${port}: is in use; choose another`))
  await assert.rejects(startUp(t, '--queue', 'x'), /--queue = x: must be/)
})

test('a restarted brain serves the code that its fronts have', idle, async (t) => {
  const { mkdtempSync, rmSync, writeFileSync } = await import('node:fs')
  const { tmpdir } = await import('node:os')
  const { join } = await import('node:path')
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-edited-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'edited.mjs')
  const write = (value: number) =>
    writeFileSync(file, `export default { name: 'edited', description: '', run: () => '${value}' }\n`)
  write(1)
  const up = await startUp(t, '--workloads', file)
  write(2)
  kill(up.brain())
  assert.equal(await text(get(up, '/edited')), '1')
  up.process.kill('SIGHUP')
  await until(() => up.lines.some((line) => line.includes('is served')), 'the new code is served')
  await until(() => up.fronts().length === 1, 'the old front has left')
  assert.equal(await text(get(up, '/edited')), '2')
  kill(up.brain())
  assert.equal(await text(get(up, '/edited')), '2')
})

test('a replaced front keeps its long requests, and its successor takes all new ones', idle, async (t) => {
  const up = await startUp(t)
  const first = get(up, '/gated?gate=a')
  await jobs(up, 1)
  assert.deepEqual(await up.roll(), [{ front: 'f1', by: 'f2', finishing: 1 }, { done: true }])
  const second = get(up, '/gated?gate=b')
  await jobs(up, 2)
  assert.deepEqual(await up.roll(), [{ front: 'f2', by: 'f3', finishing: 1 }, { done: true }])
  const wanted = 'f1 leaving 1, f2 leaving 1, f3 ready 0'
  const told = ({ id, state, inHand }: ClusterState['fronts'][number]) => `${id} ${state} ${inHand}`
  await untilState(up, ({ fronts }) => fronts.map(told).join(', ') === wanted, wanted)
  assert.equal(await text(get(up, '/strict?n=2')), '4')
  // The brain may die meanwhile.
  kill(up.brain())
  await jobs(up, 2)
  for (const gate of ['a', 'b']) up.open(gate)
  assert.deepEqual([await text(first), await text(second)], ['opened', 'opened'])
  await until(() => up.fronts().length === 1, 'both have ended')
})

test('a stop ends fronts that still finish requests', idle, async (t) => {
  const up = await startUp(t, '--stop-after', '0')
  const long = get(up, '/gated?gate=never')
  await jobs(up, 1)
  await up.roll()
  const exited = once(up.process, 'exit')
  up.process.kill('SIGTERM')
  assert.equal((await problemOf(long, 503)).code, 'stopping')
  assert.deepEqual(await exited, [0, null])
})

test('a front that was replaced ends after its limit', idle, async (t) => {
  const up = await startUp(t, '--drain-hours', '0')
  const long = get(up, '/gated?gate=never')
  await jobs(up, 1)
  await up.roll()
  assert.equal((await problemOf(long, 503)).code, 'stopping')
})

test('`plimsoll restart` reports the requests that finish at the old front', idle, async (t) => {
  const up = await startUp(t)
  const long = get(up, '/gated?gate=g')
  await jobs(up, 1)
  const { execFile } = await import('node:child_process')
  const { promisify } = await import('node:util')
  const args = [cli, 'restart', '--fronts', '--admin', up.adminUrl, '--data', up.dataDir]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  assert.equal(stdout, 'front f1 → f2; 1 request finishes at f1\nDone.\n')
  up.open('g')
  assert.equal(await text(long), 'opened')
})

/** Resolves with the newest front when this many run. */
async function newest(up: Up, count: number): Promise<number> {
  await until(() => up.fronts().length === count, `${count} fronts run`)
  return up.fronts().at(-1)!
}

test('no front is left when the supervisor is killed during a roll', idle, async (t) => {
  const up = await startUp(t, '--fronts', '2')
  void up.roll().catch(() => {})
  await newest(up, 3)
  const all = descendants(up.process.pid!).map(({ pid }) => pid)
  up.process.kill('SIGKILL')
  await until(() => !all.some(isAlive), 'all have ended')
})
