import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import test from 'node:test'
import { localFleet } from './local.ts'

test('each worker stands for an upstream of its own, and one that ends leaves it to the next', async (t) => {
  const news = new EventEmitter()
  const fleet = localFleet(
    {
      command: ['sh', '-c', 'echo "$@"; exec sleep 60', 'sh'],
      upstreams: ['http://a:1', 'http://b:2'],
      env: {},
      log: (line) => news.emit('line', line),
    },
    {
      launchFailed: (launch, message) => news.emit('failed', launch, message),
      gone: (launch) => news.emit('gone', launch),
    },
  )
  t.after(() => fleet.close())
  const said = async (launch: string) => {
    const line = once(news, 'line')
    fleet.launch(launch)
    fleet.joined(launch)
    return (await line)[0]
  }
  assert.equal(await said('1'), 'worker 1: --upstream http://a:1 --launch 1')
  assert.equal(await said('2'), 'worker 2: --upstream http://b:2 --launch 2')
  const failed = once(news, 'failed')
  fleet.launch('3')
  assert.deepEqual(await failed, ['3', 'each upstream has a worker already'])
  const gone = once(news, 'gone')
  fleet.terminate('1')
  assert.deepEqual(await gone, ['1'])
  assert.equal(await said('4'), 'worker 4: --upstream http://a:1 --launch 4')
})
