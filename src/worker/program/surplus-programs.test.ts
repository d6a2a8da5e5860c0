import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import test from 'node:test'
import { hasConnections } from './open-connections.ts'
import type { Program } from './program.ts'
import { SurplusPrograms } from './surplus-programs.ts'

test('a surplus program to which fronts are connected goes on until they are not', async (t) => {
  const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  await once(client, 'connect')
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (const concurrency of [1, 2]) {
    const programs = new Map<number, Program>()
    const ended: number[] = []
    for (const [id, at] of [port, 1].entries()) {
      const address = { connect: { host: '127.0.0.1', port: at } }
      const end = () => {
        programs.delete(id)
        ended.push(id)
      }
      const idleSince = id === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
      programs.set(id, { healthy: true, runs: new Set(), idleSince, address, end } as unknown as Program)
    }
    const surplus = new SurplusPrograms({ warm: 1, concurrency, afterMs: 1_000 }, programs)
    t.after(() => surplus.close())
    surplus.plan()
    t.mock.timers.tick(1_000)
    // One request at a time needs its worker, which knows of it.
    assert.deepEqual(ended, concurrency === 1 ? [0] : [])
    if (concurrency === 1) continue
    client.destroy()
    while (hasConnections(port)) await new Promise(setImmediate)
    t.mock.timers.tick(1_000)
    assert.deepEqual(ended, [0])
  }
})
