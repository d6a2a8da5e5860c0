import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { WireError } from '../../lib/errors.ts'
import type { FrontWelcome } from '../../wire/front-messages.ts'
import { JoinAddresses } from '../../wire/join-addresses.ts'
import { epochOf } from '../../wire/leading.ts'
import { wireProtocol } from '../../wire/messages.ts'
import { BrainLink, type BrainLinkParts } from './brain-link.ts'

const welcome: FrontWelcome = {
  ...{
    type: 'welcome',
    session: 's',
    resumed: false,
    received: 0,
    epoch: 1,
    beatMs: 1000,
    clientBy: 'address',
  },
  limits: {} as FrontWelcome['limits'],
  ...{
    repeats: {} as FrontWelcome['repeats'],
    quantities: [],
    queue: 1,
    workers: [],
    attemptToken: '',
    ready: true,
  },
}

const welcomeMs = 50
/** The longest delay between two attempts to connect. */
const longestWaitMs = 2_000

/** A server that accepts connections; `answer` is its answer to the hello of each, by number. */
async function brain(t: TestContext, answer: (connection: number, socket: Socket) => void): Promise<URL> {
  const sockets = new Set<Socket>()
  const server = createServer().on('upgrade', (_request, socket: Socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${wireProtocol}\r\n\r\n`,
    )
    const connection = sockets.size
    socket.once('data', () => answer(connection, socket)).on('end', () => socket.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

function linkTo(t: TestContext, join: URL | readonly URL[], on: Partial<BrainLinkParts>): BrainLink {
  const link = new BrainLink({
    join: new JoinAddresses([join].flat()),
    ...{ token: 't', hello: { id: 'f', pid: 1, code: {} }, welcomeMs },
    ...{ onWelcome() {}, onMessage() {}, onLost() {}, onRefused() {} },
    ...on,
  })
  t.after(() => link.close())
  return link
}

test('a brain that accepts the connection and sends no welcome is refused', {
  timeout: 60_000,
}, async (t) => {
  const refused: WireError[] = []
  const cut = Promise.withResolvers<void>()
  const join = await brain(t, (_connection, socket) => socket.once('end', cut.resolve))
  const link = linkTo(t, join, { onRefused: (error) => refused.push(error) })
  await link.open()
  await cut.promise
  assert.equal(refused.length, 1)
  assert.ok(refused[0] instanceof WireError)
  assert.equal(refused[0].message, `cannot join ${join.origin}: it did not answer within 0.05 s`)
})

test('a known brain that does not welcome the front back is retried', {
  timeout: 60_000,
}, async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const connected = [1, 2, 3].map(() => Promise.withResolvers<Socket>())
  const join = await brain(t, (connection, socket) => connected[connection - 1]!.resolve(socket))
  const welcomes = [1, 2].map(() => Promise.withResolvers<void>())
  const lost = Promise.withResolvers<void>()
  let welcomed = 0
  const link = linkTo(t, join, {
    onWelcome: () => welcomes[welcomed++]!.resolve(),
    onLost: lost.resolve,
    onRefused: (error) => welcomes[1]!.reject(error),
  })
  const say = (socket: Socket) => socket.write(`${JSON.stringify(welcome)}\n`)
  await link.open()
  const first = await connected[0]!.promise
  say(first)
  await welcomes[0]!.promise
  first.destroy()
  await lost.promise
  t.mock.timers.tick(longestWaitMs)
  const second = await connected[1]!.promise
  const cut = once(second, 'close')
  // No welcome arrives.
  t.mock.timers.tick(welcomeMs)
  await cut
  t.mock.timers.tick(longestWaitMs)
  say(await connected[2]!.promise)
  await welcomes[1]!.promise
  // The welcome has arrived, so its time limit does not apply.
  t.mock.timers.tick(welcomeMs)
  assert.ok(link.isUp)
})

test('with several addresses, a front goes to the brain that leads, and on to the next leader', async (t) => {
  let leader = 0
  const open: Socket[] = []
  const brains = [0, 1].map((number) =>
    brain(t, (_connection, socket) => {
      open[number] = socket
      const epoch = epochOf(number + 1)
      const answer = number === leader ? { ...welcome, epoch } : { type: 'not-leader', message: 'elsewhere' }
      socket.write(`${JSON.stringify(answer)}\n`)
    }),
  )
  const urls = await Promise.all(brains)
  const epochs: number[] = []
  const changed = new EventEmitter()
  const link = linkTo(t, [urls[1]!, urls[0]!], {
    hello: { id: 'f', pid: 1, code: {} },
    onWelcome({ epoch }) {
      epochs.push(epoch)
      changed.emit('welcome')
    },
    onRefused: (error) => assert.fail(error),
  })
  t.after(() => link.close())
  const first = once(changed, 'welcome')
  await link.open()
  await first
  leader = 1
  const second = once(changed, 'welcome')
  open[0]!.destroy()
  await second
  assert.deepEqual(epochs, [epochOf(1), epochOf(2)])
})
