import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { mock, type TestContext, test } from 'node:test'
import { ReadingWatch, watchSending } from './slow-clients.ts'

const rate = { windowMs: 10_000, bytesPerSecond: 100 }

function useTimers(t: TestContext): void {
  mock.timers.enable({ apis: ['setInterval'] })
  t.after(() => mock.timers.reset())
}

/** A response with bytes that wait. */
function useReading(t: TestContext) {
  useTimers(t)
  const state = { bytesWritten: 300_000, writableLength: 300_000, _handle: { writeQueueSize: 300_000 } }
  const response = Object.assign(new EventEmitter(), {
    destroyed: false,
    socket: state as typeof state | null,
    get writableLength() {
      return state.writableLength
    },
  })
  let cut = 0
  const watch = new ReadingWatch(response as Partial<ServerResponse> as ServerResponse, rate, () => cut++)
  return { watch, response, state, cuts: () => cut }
}

test('a client that reads less than the minimum in a window is cut', (t) => {
  const { watch, state, cuts } = useReading(t)
  watch.start()
  state.writableLength -= 1_000
  mock.timers.tick(10_000)
  assert.equal(cuts(), 0)
  state.writableLength -= 999
  mock.timers.tick(10_000)
  assert.equal(cuts(), 1)
  mock.timers.tick(100_000)
  assert.equal(cuts(), 1)
})

test('the part of a single write that the system has taken counts', (t) => {
  const { watch, state, cuts } = useReading(t)
  watch.start()
  state._handle.writeQueueSize -= 1_000
  mock.timers.tick(10_000)
  assert.equal(cuts(), 0)
  mock.timers.tick(10_000)
  assert.equal(cuts(), 1)
})

test('a client that has caught up, or whose answer waits behind another, is not cut', (t) => {
  const { watch, response, state, cuts } = useReading(t)
  watch.start()
  watch.stop()
  mock.timers.tick(20_000)
  watch.start()
  response.socket = null
  mock.timers.tick(20_000)
  state.writableLength = 0
  mock.timers.tick(20_000)
  assert.equal(cuts(), 0)
})

test('a client that disconnects is not watched', (t) => {
  const { watch, response, cuts } = useReading(t)
  watch.start()
  response.emit('close')
  mock.timers.tick(100_000)
  assert.equal(cuts(), 0)
})

function useSending(t: TestContext) {
  useTimers(t)
  const socket = { bytesRead: 500 }
  const request = Object.assign(new EventEmitter(), {
    ...{ socket, complete: false, destroyed: false, readableLength: 0 },
  })
  let cut = 0
  watchSending(request as unknown as IncomingMessage, rate, () => cut++)
  return { request, socket, cuts: () => cut }
}

test('a client that sends less than the minimum in a window is cut', (t) => {
  const { socket, cuts } = useSending(t)
  socket.bytesRead += 1_000
  mock.timers.tick(10_000)
  assert.equal(cuts(), 0)
  socket.bytesRead += 999
  mock.timers.tick(10_000)
  assert.equal(cuts(), 1)
})

test('a client whose bytes wait to be read, or that has sent everything, is not cut', (t) => {
  const { request, cuts } = useSending(t)
  request.readableLength = 10
  mock.timers.tick(10_000)
  request.complete = true
  mock.timers.tick(10_000)
  assert.equal(cuts(), 0)
})
