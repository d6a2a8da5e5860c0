/** Direct links to a real worker process. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { startLoneWorker } from '../src/cli/testing/lone-worker.ts'
import type { DirectAnswer } from '../src/front/direct/direct-answer.ts'
import { WorkerLink } from '../src/front/direct/worker-link.ts'
import { stateOf, until } from '../src/worker/slots/testing/use-pool.ts'
import { useDirectWorld } from './support/direct-world.ts'

const files = [join(import.meta.dirname, 'fixtures/small.ts')]

async function useWorker(t: TestContext) {
  const worker = await startLoneWorker(files)
  const { hello, attemptToken } = worker
  const link = new WorkerLink({ id: 'w', address: hello.address, token: attemptToken, log() {} })
  t.after(async () => {
    link.close()
    await worker.close()
  })
  const call = (workload: string, params = '{}') =>
    new Promise<DirectAnswer>((resolve) => void link.call({ workload, params, job: 'j' }, resolve))
  /** On a slow machine a job may take longer than small ones may. */
  const untilResult = async (workload: string, params?: string) => {
    for (;;) {
      const answer = await call(workload, params)
      if (answer.outcome === 'result') return answer
      assert.ok(answer.outcome === 'given-back' && ['slow', 'busy'].includes(answer.reason))
    }
  }
  return { worker, link, call, untilResult }
}

test('the CPU time of small jobs is in the reports of the worker', async (t) => {
  const { worker, untilResult } = await useWorker(t)
  let cpuMs = 0
  for (let i = 0; i < 20; i++) cpuMs += (await untilResult('count', '{"n":1000000}')).cpuMs
  await until(() => worker.cpuMs() >= 0.9 * cpuMs, 'it has been reported')
})

test('the memory of slots for small jobs is in the reports of the worker while they exist', async (t) => {
  const { worker, untilResult } = await useWorker(t)
  assert.equal(worker.smallMb(), 0)
  const { pid } = JSON.parse((await untilResult('pid')).body.toString())
  await until(() => worker.smallMb() > 10, 'it has been reported')
  process.kill(pid, 'SIGKILL')
  await until(() => worker.smallMb() === 0, 'the slot has ended')
})

test('a worker that drains gives jobs back', async (t) => {
  const { worker, link, call, untilResult } = await useWorker(t)
  await untilResult('pid')
  worker.connection.send({ type: 'drain' })
  let answer: DirectAnswer
  do answer = await call('pid')
  while (answer.outcome !== 'given-back' || answer.reason !== 'draining')
  assert.ok(link.isOpen)
})

test('the jobs of a worker that is killed are given back, and its slots end', async (t) => {
  const { worker, link, call, untilResult } = await useWorker(t)
  const { pid } = JSON.parse((await untilResult('pid')).body.toString())
  const jobs = [call('bad', '{"how":"wait"}'), call('pid'), call('pid')]
  worker.program.process.kill('SIGKILL')
  for (const answer of await Promise.all(jobs)) {
    // A job may have been answered, or its slot ended, before the signal arrived.
    assert.ok(answer.outcome === 'result' || answer.outcome === 'given-back')
  }
  assert.equal(link.pending, 0)
  await until(() => !link.isOpen, 'the link is closed')
  assert.deepEqual(await call('pid'), { outcome: 'given-back', reason: 'unreachable' })
  await until(() => stateOf(pid) === undefined, 'its slot has ended')
})

test('a link to a worker of another machine uses TLS', async (t) => {
  const { address, call, newLink } = await useDirectWorld(t, { files, tls: true })
  assert.equal(address.tls, true)
  assert.equal((await call('pid')).outcome, 'result')
  const stranger = newLink({ token: 'guessed' })
  const refused = new Promise((resolve) => {
    stranger.call({ workload: 'pid', params: '{}', job: 'j' }, resolve)
  })
  assert.deepEqual(await refused, { outcome: 'given-back', reason: 'unreachable' })
})
