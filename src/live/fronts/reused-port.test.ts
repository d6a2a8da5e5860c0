import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import test from 'node:test'
import { listenReused } from './reused-port.ts'

/** An address of this process alone: between two uses of a port nobody else takes it. */
const host = `127.${(process.pid >> 14) & 127}.${(process.pid >> 7) & 127}.${2 + (process.pid & 127)}`
const taken = { code: 'CONFIG', message: /^--port = \d+: is in use; choose another$/ }

async function close(server: Server): Promise<void> {
  if (!server.listening) return
  server.close()
  await once(server, 'close')
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, host)
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await close(probe)
  return port
}

test('a port that an orphaned front would share is refused', async () => {
  const orphan = createServer().listen({ port: 0, host, reusePort: true })
  await once(orphan, 'listening')
  const { port } = orphan.address() as AddressInfo
  const late = createServer()
  await assert.rejects(listenReused(late, port, host, '--port'), taken)
  await close(orphan)
  const lock = await listenReused(late, port, host, '--port')
  await close(late)
  lock.release()
})

test('of clusters that start at the same moment one gets the port', async () => {
  const port = await freePort()
  const servers = Array.from({ length: 5 }, () => createServer())
  const ends = await Promise.allSettled(servers.map((server) => listenReused(server, port, host, '--port')))
  const [lock, ...more] = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
  assert.equal(more.length, 0)
  for (const end of ends) if (end.status === 'rejected') assert.match(end.reason.message, taken.message)
  assert.equal(servers.filter(({ listening }) => listening).length, 1)
  await Promise.all(servers.map(close))
  lock!.release()
})

test('a front of the same cluster can share a free port', async () => {
  const [first, second] = [createServer(), createServer()]
  const lock = await listenReused(first, 0, host, '--port')
  const { port } = first.address() as AddressInfo
  second.listen({ port, host, reusePort: true })
  await once(second, 'listening')
  await assert.rejects(listenReused(createServer(), port, host, '--port'), taken)
  await Promise.all([first, second].map(close))
  lock.release()
})
