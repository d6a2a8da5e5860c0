/** A rolling restart after the code on disk has changed. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { startLive, stopLive, until } from '../support/live.ts'

test('a restart with changed code stops with a message, and all workers stay', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'plimsoll-edited-'))
  const file = join(dir, 'edited.ts')
  const write = (value: number) =>
    writeFileSync(file, `export default { name: 'edited', description: '', run: () => ${value} }\n`)
  write(1)
  const live = await startLive({ files: [file], min: 2, max: 2 })
  t.after(async () => {
    await stopLive(live)
    rmSync(dir, { recursive: true })
  })
  await until(() => live.state().ready === 2, 'both workers are ready')
  const before = live.state().workers.map(({ id, state }) => `${id} ${state}`)
  write(2)
  await assert.rejects(
    live.restart({ fronts: false, workers: true }).next(),
    /worker \S+: refused: its code of workload edited differs/,
  )
  assert.deepEqual(
    live.state().workers.map(({ id, state }) => `${id} ${state}`),
    before,
  )
  assert.equal(await (await fetch(`${live.url}/edited`)).text(), '1')
})
