import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import test from 'node:test'
import type { FromBrain, ToBrain } from './messages.ts'
import { supervisedFleet } from './supervised-fleet.ts'

function fleet() {
  const channel = new EventEmitter<{ message: [ToBrain] }>()
  const sent: FromBrain[] = []
  const told: string[] = []
  const link = {
    send: (message: FromBrain) => void sent.push(message),
    onMessage: (take: (message: ToBrain) => void) => void channel.on('message', take),
  }
  const options = {
    command: (launch: string) => ['start', launch],
    upstreams: ['http://a:1'],
    graceMs: 50,
    ...{ token: 'sesame', log() {} },
  }
  const provider = supervisedFleet(link, options, {
    launchFailed: (launch, message, output) => void told.push(`${launch} failed: ${message}, ${output}`),
    gone: (launch, message) => void told.push(`${launch} gone: ${message}`),
  })
  return { provider, sent, told, tell: (message: ToBrain) => void channel.emit('message', message) }
}

test('the supervisor is told what to start, and tells what became of it', () => {
  const { provider, sent, told, tell } = fleet()
  provider.launch('1-1')
  provider.joined('1-1')
  provider.terminate('1-1')
  const start = { command: ['start', '1-1'], token: 'sesame', wantsQueue: false, upstreams: ['http://a:1'] }
  assert.deepEqual(sent, [
    { type: 'launch', launch: '1-1', start },
    { type: 'worker-joined', launch: '1-1' },
    { type: 'terminate', launch: '1-1', graceMs: 0 },
  ])
  tell({ type: 'worker-gone', launch: '1-1', message: 'killed' })
  tell({ type: 'launch-failed', launch: '1-2', message: 'no', output: 'why' })
  assert.deepEqual(told, ['1-1 gone: killed', '1-2 failed: no, why'])
})

test('each list is answered by what the supervisor says for it', async () => {
  const { provider, tell } = fleet()
  const [first, second] = [provider.list(), provider.list()]
  tell({ type: 'workers', ask: 2, workers: [] })
  assert.deepEqual(await second, [])
  const worker = { launch: '1-1', since: 5, joined: true }
  tell({ type: 'workers', ask: 1, workers: [worker] })
  assert.deepEqual(await first, [worker])
})

test('a fleet that closes launches nothing more', async () => {
  const { provider, sent, tell } = fleet()
  const closing = provider.close()
  provider.launch('1-1')
  assert.deepEqual(sent, [{ type: 'close-workers', graceMs: 50 }])
  tell({ type: 'workers-closed' })
  await closing
})
