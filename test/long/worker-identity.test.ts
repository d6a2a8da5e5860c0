/** Two workers with the same id, a worker that starts again under its id, and how workers end. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import test, { type TestContext } from 'node:test'
import { cli, fixtures, patient, until, useLive } from '../support/live.ts'

const live = useLive({ max: 3, limits: { ...patient, beatMs: 100, missedBeats: 10 } })

interface Started {
  process: ChildProcess
  /** Its exit code, and what it printed. */
  ended: Promise<{ code: number | null; said: string }>
}

function start(t: TestContext, id: string): Started {
  const args = [cli, 'worker', '--join', live.adminUrl, '--id', id]
  const child = spawn(process.execPath, [...args, '--workloads', fixtures, '--data', live.dataDir])
  let said = ''
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, said }))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { process: child, ended }
}

const workerOf = (id: string) => live.state().workers.find((worker) => worker.id === id)
const isThere =
  (id: string, { pid }: ChildProcess) =>
  () =>
    workerOf(id)?.pid === pid

test('a second worker with an id in use is refused, and both sides say so', async (t) => {
  const first = start(t, 'same')
  await until(isThere('same', first.process), 'the first has joined')
  const { code, said } = await start(t, 'same').ended
  assert.equal(code, 2)
  const why = `a worker with the id same is connected already (process ${first.process.pid}, 127.0.0.1:`
  assert.ok(said.includes(`plimsoll: ${new URL(live.adminUrl).origin} refused the worker same: ${why}`), said)
  assert.ok(
    live.lines.some((line) => line.startsWith(`worker same: refused: ${why}`)),
    live.lines.join('\n'),
  )
  assert.equal(workerOf('same')?.pid, first.process.pid)
})

test('a worker that starts again under its id is used at its new address', async (t) => {
  const first = start(t, 'again')
  await until(isThere('again', first.process), 'the first has joined')
  first.process.kill('SIGKILL')
  await first.ended
  const second = start(t, 'again')
  await until(isThere('again', second.process), 'the second has joined')
  // All others leave, so that only its slots are left.
  const others = () => live.state().workers.filter(({ id }) => id !== 'again')
  for (const { pid } of others()) {
    try {
      process.kill(pid!, 'SIGTERM')
    } catch {
      // It was killed by the test before, and the cluster has not noticed yet.
    }
  }
  await until(() => others().length === 0, 'the others have left')
  const answer = await fetch(`${live.url}/strict?n=21`)
  assert.equal(await answer.text(), '42')
  assert.equal(live.state().workers.filter(({ id }) => id === 'again').length, 1)
})

test('an invalid id is an error that says what is allowed', async (t) => {
  const { code, said } = await start(t, 'a b').ended
  assert.equal(code, 2)
  assert.match(said, /^plimsoll: --id = a b: must be 1 to 64 characters out of /m)
})

test('a worker that leaves ends with code 0 and says why', async (t) => {
  const worker = start(t, 'leaves')
  await until(isThere('leaves', worker.process), 'it has joined')
  worker.process.kill('SIGTERM')
  const { code, said } = await worker.ended
  assert.match(said, /^worker leaves: ended by the cluster: it has drained$/m)
  assert.equal(code, 0)
})

test('a worker that was declared lost ends with code 3 and says why', async (t) => {
  const worker = start(t, 'stopped')
  await until(isThere('stopped', worker.process), 'it has joined')
  await until(() => !workerOf('stopped')?.fresh, 'it has reported')
  worker.process.kill('SIGSTOP')
  await until(() => !workerOf('stopped'), 'it is lost')
  worker.process.kill('SIGCONT')
  const { code, said } = await worker.ended
  assert.match(said, /^worker stopped: ended by the cluster: it sent no heartbeat for [\d.]+ m?s$/m)
  assert.equal(code, 3)
})
