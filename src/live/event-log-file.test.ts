import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { replay } from '../simulate/replay.ts'
import { type BrainSpec, brainOf } from '../systems/brain-spec.ts'
import { eventLogFile } from './event-log-file.ts'

const spec: BrainSpec = {
  scheduler: 'srpt',
  discipline: 'srpt',
  scale: { min: 0, max: 0 },
  epoch: 3,
  seed: 7,
  limits: { queue: 5 },
}
const noSpace = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })

/** An event log on a disk that is full while `disk.free` is 0, and whose writes are at most `disk.free` bytes long. */
function onDisk(t: TestContext, mostBytes: number) {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'events.jsonl')
  const lines: string[] = []
  const disk = { free: Infinity }
  t.mock.timers.enable({ apis: ['setInterval'] })
  const log = eventLogFile({
    ...{ file, spec, mostBytes, log: (line) => lines.push(line) },
    write(descriptor, bytes) {
      if (disk.free === 0) throw noSpace
      const written = writeSync(descriptor, bytes.subarray(0, disk.free))
      disk.free -= written
      return written
    },
  })
  const brain = brainOf(spec)
  let at = 0
  return {
    ...{ lines, disk, log },
    /** Logs this number of events, then lets the log write them. */
    entries(count: number) {
      for (let i = 0; i < count; i++) {
        const event = { type: 'tick' } as const
        log.entry(++at, event, brain.handle(event, at))
      }
      t.mock.timers.tick(500)
    },
    read: () => readFileSync(file, 'utf8').split('\n').slice(0, -1),
  }
}

test('a disk that is full for a while loses nothing that fits in memory, not even half a line', async (t) => {
  const { lines, disk, log, entries, read } = onDisk(t, 100_000)
  entries(10)
  disk.free = 100
  entries(10)
  entries(10)
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /event log: .* cannot be written: ENOSPC/)
  disk.free = Infinity
  entries(10)
  assert.equal(lines.length, 2)
  assert.match(lines[1]!, /is written again; entries lost: 0$/)
  log.close()
  assert.equal(read().length, 41)
  assert.deepEqual((await replay(read())).events, 40)
})

test('entries beyond the memory limit are lost, and a line in their place says how many', async (t) => {
  const { lines, disk, log, entries, read } = onDisk(t, 500)
  entries(10)
  disk.free = 0
  for (let i = 0; i < 100; i++) entries(10)
  assert.equal(lines.length, 1)
  disk.free = Infinity
  entries(10)
  const [, lost = ''] = /entries lost: (\S+)$/.exec(lines[1]!) ?? []
  const missing = Number(lost.replace(',', ''))
  assert.ok(missing > 0 && missing < 1000, lost)
  log.close()
  assert.equal(read().length, 1 + 1020 - missing + 1)
  assert.ok(read().includes(`{"lost":${missing}}`))
  const { events, gap, difference } = await replay(read())
  assert.deepEqual([difference, gap?.lost], [undefined, missing])
  assert.equal(gap!.line, events + 2)
})

test('a log on a device without space stops nothing and is reported once', (t) => {
  const lines: string[] = []
  t.mock.timers.enable({ apis: ['setInterval'] })
  const log = eventLogFile({ file: '/dev/full', spec, log: (line) => lines.push(line), mostBytes: 1000 })
  for (let at = 0; at < 10_000; at++) log.entry(at, { type: 'tick' }, [])
  t.mock.timers.tick(5_000)
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /event log: \/dev\/full cannot be written: ENOSPC/)
  log.close()
  assert.match(lines[1]!, /event log: \/dev\/full is closed; entries lost: 10,001$/)
})
