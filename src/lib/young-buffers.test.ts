import assert from 'node:assert/strict'
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import test from 'node:test'
import { passedBuffer } from './young-buffers.ts'

test('buffers are collected while they are young, every few megabytes', async () => {
  const kinds: (number | undefined)[] = []
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries() as (PerformanceEntry & { detail?: { kind: number } })[])
      kinds.push(detail?.kind)
  })
  observer.observe({ entryTypes: ['gc'] })
  const step = 64 * 1024
  for (let at = 0; at < 200 * 1024 * 1024; at += step) passedBuffer(Buffer.alloc(step).length)
  await new Promise((resolve) => setTimeout(resolve, 50))
  observer.disconnect()
  // 1: young objects only.
  assert.ok(kinds.filter((kind) => kind === 1).length >= 30, `${kinds}`)
  assert.equal('gc' in globalThis, false)
})

test('buffers that are kept for a moment are collected too, before they fill the memory', () => {
  const kept: Buffer[] = []
  const step = 64 * 1024
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  for (let at = 0; at < 800 * 1024 * 1024; at += step) {
    const buffer = Buffer.alloc(step)
    passedBuffer(buffer.length)
    kept.push(buffer)
    if (kept.length > 1000) kept.shift()
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }
  assert.ok(most < 300 * 1024 * 1024, `${most}`)
})
