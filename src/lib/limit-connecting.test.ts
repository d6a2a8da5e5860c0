import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ClientRequest } from 'node:http'
import { mock, type TestContext, test } from 'node:test'
import { limitConnecting } from './limit-connecting.ts'

function useRequest(t: TestContext) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  const errors: (string | undefined)[] = []
  const request = Object.assign(new EventEmitter(), {
    destroy: (error: NodeJS.ErrnoException) => errors.push(error.code),
  })
  limitConnecting(request as unknown as ClientRequest, 10_000)
  return { request, errors }
}

test('a request whose connection is not established in time fails', (t) => {
  const { request, errors } = useRequest(t)
  request.emit('socket', Object.assign(new EventEmitter(), { connecting: true }))
  mock.timers.tick(9_999)
  assert.deepEqual(errors, [])
  mock.timers.tick(1)
  assert.deepEqual(errors, ['ETIMEDOUT'])
})

test('a request on an established connection has no limit', (t) => {
  const { request, errors } = useRequest(t)
  const socket = Object.assign(new EventEmitter(), { connecting: true })
  request.emit('socket', socket)
  socket.emit('connect')
  mock.timers.tick(100_000)
  assert.deepEqual(errors, [])
})
