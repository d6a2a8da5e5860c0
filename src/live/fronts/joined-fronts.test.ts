import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FrontConnection } from '../../wire/accept.ts'
import type { Arrival, FromFront, FrontHello } from '../../wire/front-messages.ts'
import { JoinedFronts, type JoinedFrontsParts } from './joined-fronts.ts'

/** One front, whose messages the test sends. */
function joined(t: TestContext, parts: Partial<JoinedFrontsParts>) {
  const fronts = new JoinedFronts({
    beatMs: 2 ** 30,
    graceMs: 1_000,
    welcome: () => ({}) as never,
    isReady: () => true,
    jobOf: ({ job }) => ({ facts: { job: { id: job } } as never, estimateMs: 0 }),
    quoteOf: () => ({}),
    wantKeeper() {},
    submit() {},
    tell() {},
    ended() {},
    delegation: () => ({ report() {}, standing() {} }),
    log() {},
    ...parts,
  })
  t.after(() => fronts.close())
  const connection = { send() {}, close() {}, cut() {} } as unknown as FrontConnection
  fronts.add(connection, { type: 'front', version: 1, id: 'f', pid: 1, code: {}, received: 0 } as FrontHello)
  let n = 0
  return { fronts, send: (m: FromFront) => connection.onMessage({ n: ++n, a: 0, m }) }
}

test('CP-6 the store is asked before a request arrives, and its cancellation waits for that', async (t) => {
  const looked = Promise.withResolvers<void>()
  const told: string[] = []
  const { send } = joined(t, {
    look: () => looked.promise,
    submit: () => void told.push('arrived'),
    tell: ({ type }) => void told.push(type),
  })
  send({ type: 'arrived', job: 'j1' } as never)
  send({ type: 'cancelled', job: 'j1' } as never)
  assert.deepEqual(told, [])
  looked.resolve()
  await looked.promise
  await Promise.resolve()
  assert.equal(told[0], 'arrived')
  assert.equal(told.length, 2)
})

test('a request of a front that left during the lookup is dropped', async (t) => {
  const looked = Promise.withResolvers<void>()
  const told: string[] = []
  const { send, fronts } = joined(t, {
    look: () => looked.promise,
    submit: () => void told.push('arrived'),
  })
  send({ type: 'arrived', job: 'j1' } as never)
  send({ type: 'left' } as never)
  looked.resolve()
  await looked.promise
  await Promise.resolve()
  assert.deepEqual([told, fronts.list()], [[], []])
})

test('jobs of an overloaded front arrive with its pressure, and its state shows why', (t) => {
  const pressures: number[] = []
  const { fronts, send } = joined(t, { submit: (_job, pressure) => void pressures.push(pressure) })
  const arrival = (job: string) => ({ type: 'arrived', job }) as { type: 'arrived' } & Arrival
  send(arrival('j1'))
  const counts = { held: 0, shed: 0, refusedConnections: 0, refusedRequests: 0 }
  const status = { step: 2, pressure: 0.4, doing: 'sheds', why: 'memory', ...counts } as const
  send({ type: 'overload', status })
  send(arrival('j2'))
  assert.deepEqual(pressures, [0, 0.4])
  assert.deepEqual(fronts.list()[0]?.overload, status)
})
