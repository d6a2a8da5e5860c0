import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { SlotCpu } from './slot-cpu.ts'
import { until } from './testing/use-pool.ts'

test('twice as many processes as cores want all of their time, and use at most half of it', async (t) => {
  const cores = availableParallelism()
  const processes = Array.from({ length: 2 * cores }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  )
  t.after(() => processes.map((child) => child.kill('SIGKILL')))
  const uses = processes.map(({ pid }) => new SlotCpu(pid!))
  const read = () => uses.map((use) => use.read())
  // All spin, however busy the machine is.
  await until(() => read().every(({ usedMs }) => usedMs > 300), 'all of them run')
  const begin = performance.now()
  const before = read().map(({ usedMs, queuedMs }) => ({ usedMs, queuedMs }))
  await until(() => performance.now() - begin > 500, 'time passes')
  const after = read()
  const ms = performance.now() - begin
  const used = after.reduce((sum, { usedMs }, i) => sum + usedMs - before[i]!.usedMs, 0)
  const queued = after.reduce((sum, { queuedMs }, i) => sum + queuedMs - before[i]!.queuedMs, 0)
  assert.ok(used <= 1.1 * cores * ms, `${used} ms of ${cores} cores in ${ms} ms`)
  // The kernel accounts for a wait when it ends.
  assert.ok(used + queued >= 0.7 * 2 * cores * ms, `${used} + ${queued} ms wanted in ${ms} ms`)
})

test('a process that waits for input wants nothing', async (t) => {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: 'pipe' })
  t.after(() => child.kill('SIGKILL'))
  const use = new SlotCpu(child.pid!, 0)
  let last = -1
  // Its start is over when a reading adds nothing.
  await until(() => {
    const { usedMs, queuedMs } = use.read()
    const isStill = usedMs + queuedMs === last && usedMs > 10
    last = usedMs + queuedMs
    return isStill
  }, 'it is idle')
})
