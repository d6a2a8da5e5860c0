/** A process that did not run reads its sockets before it judges anyone by the time. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import type { Brain } from '../brain/brain.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import { driveBrain } from './brain-driver.ts'
import { now } from './clock.ts'

/** A brain that asks once for a tick, and notes what it is told. */
function recorder(wakeAt: number) {
  const told: Event[] = []
  const ticked = Promise.withResolvers<void>()
  let asked = false
  const brain: Brain = {
    assignsRoles: false,
    queued: 0,
    handle(event): Action[] {
      told.push(event)
      if (asked && event.type === 'tick') ticked.resolve()
      if (asked) return []
      asked = true
      return [{ type: 'wake', at: wakeAt }]
    },
    view: () => assert.fail('not used'),
  }
  return { brain, told, ticked: ticked.promise }
}

/** Both ends of a connection. */
async function connection(): Promise<{ near: Socket; far: Socket; close(): void }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const far = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [near] = (await once(server, 'connection')) as [Socket]
  return {
    ...{ near, far },
    close() {
      near.destroy()
      far.destroy()
      server.close()
    },
  }
}

/** Blocks this process, as a stop signal, a garbage collection or a slow disk would. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test('after a pause the brain is told of it, then of what waited in the sockets, and then ticks', async (t) => {
  const { near, far, close } = await connection()
  const lines: string[] = []
  const { brain, told, ticked } = recorder(now() + 100)
  const driver = driveBrain({
    ...{ brain, eventLog: { entry() {}, close() {} }, observers: [], now, perform() {} },
    log: (line) => lines.push(line),
  })
  t.after(() => {
    driver.end()
    close()
  })
  near.on('data', (bytes) => {
    for (const worker of bytes.toString()) driver.tell({ type: 'reported', worker, seq: 1, held: [] })
  })
  driver.tell({ type: 'tick' })
  // Timers run before sockets are read: the reports wait in the socket when the tick is due.
  setImmediate(() => {
    far.write('abc')
    block(1600)
  })
  await ticked
  assert.deepEqual(
    told.map((event) => (event.type === 'reported' ? event.worker : event.type)),
    ['tick', 'paused', 'a', 'b', 'c', 'tick'],
  )
  const [, paused] = told
  assert.ok(paused?.type === 'paused' && paused.ms >= 1100, 'the pause was measured')
  assert.match(lines.join('\n'), /^brain: its process did not run for [\d.]+ s; that time does not count/)
})

test('a tick that is not late is told of no pause, and follows what waits in the sockets', async (t) => {
  const { near, far, close } = await connection()
  const { brain, told, ticked } = recorder(20)
  const driver = driveBrain({
    ...{ brain, eventLog: { entry() {}, close() {} }, observers: [], perform() {}, log: assert.fail },
    // Time stands still while this test blocks, so that no pause is noticed however slow the machine is.
    now: () => 0,
  })
  t.after(() => {
    driver.end()
    close()
  })
  near.on('data', () => driver.tell({ type: 'reported', worker: 'a', seq: 1, held: [] }))
  driver.tell({ type: 'tick' })
  setImmediate(() => {
    far.write('a')
    block(100)
  })
  await ticked
  assert.deepEqual(
    told.map(({ type }) => type),
    ['tick', 'reported', 'tick'],
  )
})
