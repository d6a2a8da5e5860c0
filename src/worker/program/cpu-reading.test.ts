import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import test from 'node:test'
import { Worker } from 'node:worker_threads'
import { CpuReader, LastReading } from './cpu-reading.ts'

const skip = !existsSync('/proc/self/schedstat') && 'needs /proc'

test('a reading has the CPU time of each thread, of new ones too, and leaves out ended processes', {
  skip,
}, async () => {
  const reader = new CpuReader()
  const threads = () => reader.read([process.pid, 2 ** 30]).processes
  const before = threads()
  assert.deepEqual([...before.keys()], [process.pid])
  const main = (processes: typeof before) => processes.get(process.pid)!.threads.get(`${process.pid}`)!
  assert.ok(main(threads()) > main(before))
  const worker = new Worker('require("node:worker_threads").parentPort.on("message", () => {})', {
    eval: true,
  })
  await new Promise((resolve) => worker.once('online', resolve))
  const tids = [...before.get(process.pid)!.threads.keys()]
  const during = [...threads().get(process.pid)!.threads.keys()]
  assert.ok(during.some((tid) => !tids.includes(tid)))
  await worker.terminate()
  assert.ok(main(threads()) > main(before))
  reader.close()
})

test('a job that follows closely starts from the last reading, less what others were charged with', () => {
  const last = new LastReading()
  assert.equal(last.recent(), undefined)
  const reading = { at: performance.now() + 1e6, processes: new Map() }
  last.store(reading)
  last.charge(0.5)
  last.charge(0.25)
  assert.deepEqual(last.recent(), { reading, chargedMs: 0.75 })
  last.store({ ...reading, at: performance.now() - 1e6 })
  assert.equal(last.recent(), undefined)
})
