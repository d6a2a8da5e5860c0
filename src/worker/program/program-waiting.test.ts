/** Requests to programs that wait hold no core. */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { disciplines } from '../../model/discipline.ts'
import type { HttpRequest } from '../../wire/messages.ts'
import { until } from '../slots/testing/use-pool.ts'
import { Supervisor } from '../supervisor.ts'
import type { ProgramSettings } from './settings.ts'
import { usePrograms } from './testing/use-programs.ts'

/** A supervisor with one core that runs the oldest job first. */
async function useSupervisor(t: TestContext, settings: Partial<ProgramSettings> = {}) {
  const { pool } = await usePrograms(t, settings, { slots: 4 })
  const waiting = new Set<string>()
  const changes: string[] = []
  const supervisor = new Supervisor(
    {
      ...{ pool, meter: 'off', cores: settings.concurrency ?? 1, slots: 8 },
      send: (message) => {
        if (message.type !== 'progress' || message.waiting === undefined) return
        changes.push(message.job)
        if (message.waiting) waiting.add(message.job)
        else waiting.delete(message.job)
      },
    },
    disciplines.fifo,
  )
  const take = (job: string, target: string, more: Partial<HttpRequest> = {}) => {
    const http: HttpRequest = { method: 'GET', target, headers: ['Host', 'x'], ...more }
    const token = { epoch: 1, job, attempt: 1 }
    const head = { ...token, workload: 'server', params: null, work: 1, preemptible: true, ask: false, http }
    const attempt = supervisor.take(head)
    assert.ok(!('refused' in attempt))
    t.after(() => attempt.cancel())
    return attempt
  }
  return { take, waiting, changes }
}

const upgrade = {
  headers: ['Host', 'x', 'Upgrade', 'websocket', 'Connection', 'Upgrade'],
  upgrade: true,
} as const
const webSocket = { ...upgrade, headers: [...upgrade.headers] }

test('a request that hangs holds no core, so that the next one is answered', async (t) => {
  const { take, waiting } = await useSupervisor(t)
  take('hangs', '/hang')
  const answer = await take('next', '/pid').answer
  assert.equal(answer.kind, 'http')
  assert.ok(waiting.has('hangs'))
})

test('a request that computes does not count as waiting', async (t) => {
  const { take, changes } = await useSupervisor(t)
  assert.equal((await take('computes', '/spin?ms=400').answer).kind, 'http')
  assert.deepEqual(changes, [])
})

for (const concurrency of [1, 2]) {
  test(`idle WebSockets hold no core, and data wakes them: concurrency ${concurrency}`, async (t) => {
    const { take, waiting } = await useSupervisor(t, { concurrency })
    const sockets = ['a', 'b', 'c'].map((job) => take(job, '/chat', webSocket))
    const [first] = await Promise.all(sockets.map(({ answer }) => answer))
    await until(() => waiting.size === 3, 'all wait')
    assert.equal((await take('next', '/pid').answer).kind, 'http')
    assert.ok(first?.kind === 'upgraded')
    const echoed = new Promise((resolve) => first.socket.once('data', resolve))
    first.socket.write('hello')
    assert.equal(String(await echoed), 'hello')
  })
}
