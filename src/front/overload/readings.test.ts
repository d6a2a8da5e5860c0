import assert from 'node:assert/strict'
import { closeSync, openSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { resourceReader } from './readings.ts'

function reader(t: TestContext, memoryMb = 0) {
  const opened = resourceReader({ memoryMb })
  t.after(() => opened.close())
  return opened
}

test('memory is a share of the limit', (t) => {
  const usual = reader(t).read().memory!
  assert.ok(usual > 0 && usual < 1, `${usual}`)
  const small = reader(t, 1).read().memory!
  assert.ok(small > 10, `${small}`)
})

test('open descriptors are a share of their limit', { skip: process.platform !== 'linux' }, (t) => {
  const { read } = reader(t)
  const before = read().descriptors!
  const opened = Array.from({ length: 50 }, () => openSync('/dev/null', 'r'))
  const after = read().descriptors!
  for (const descriptor of opened) closeSync(descriptor)
  assert.ok(before > 0 && after > before && after < 1, `${before} ${after}`)
})

test('a blocked event loop is late', async (t) => {
  const { read } = reader(t)
  await wait(50)
  const until = performance.now() + 300
  while (performance.now() < until);
  await wait(30)
  assert.ok(read().loop! > 20)
  // Without samples since the last reading there is no delay.
  assert.equal(read().loop, 0)
})
