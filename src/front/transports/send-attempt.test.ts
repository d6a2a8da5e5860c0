import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import type { Body } from '../request/body.ts'
import { sendAttempt } from './send-attempt.ts'
import type { Carried } from './transport.ts'

/** Its connections stay as the system leaves them while it waits for a machine that does not answer. */
class Unanswered extends Agent {
  override createConnection() {
    return Object.assign(new Socket(), { connecting: true })
  }
}

test('an attempt fails if the worker accepts no connection for ten seconds', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const address = { host: '192.0.2.1', port: 1 }
  const order = { epoch: 1, job: 'j', attempt: 1, workload: 'w', work: 1, preemptible: true, ask: false }
  const { answer, done } = sendAttempt(
    {
      upstream: { id: 'w1', address, agent: new Unanswered() },
      ...{ order, token: '', signal: new AbortController().signal },
    } as unknown as Carried,
    { request: Buffer.from('"params":{}'), body: {} as Body, switching: true },
  )
  let failure: NodeJS.ErrnoException | undefined
  const failed = answer.then(
    () => assert.fail('it has an answer'),
    (error: NodeJS.ErrnoException) => {
      failure = error
    },
  )
  // The request asks its agent for a connection in the next tick.
  await new Promise((resolve) => setImmediate(resolve))
  t.mock.timers.tick(9_999)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(failure, undefined)
  t.mock.timers.tick(1)
  // Ends the test if the limit is missing.
  setImmediate(() => setImmediate(done))
  await failed
  assert.equal(failure!.code, 'ETIMEDOUT')
})
