import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presetGroups } from '../../src/systems/presets.ts'
import { fixtures, patient, until } from '../support/live.ts'
import { livePreset } from '../support/preset-live.ts'

for (const preset of presetGroups.peers!.filter((each) => each !== 'plimsoll'))
  test(`${preset} serves requests, also when a worker is lost`, async (t) => {
    const more = { files: [fixtures], limits: { ...patient, missedBeats: 3 } }
    const live = await livePreset(t, preset, { max: 2, wait: false, more })
    const ask = async () => (await fetch(`${live.url}/echo?text=hi`)).status
    assert.deepEqual(await Promise.all([ask(), ask(), ask(), ask()]), [200, 200, 200, 200])
    const [worker] = live.state().workers
    process.kill(worker!.pid!, 'SIGKILL')
    assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [200, 200, 200])
    await until(
      () => live.state().workers.every(({ id }) => id !== worker!.id),
      'the worker is declared lost',
    )
  })
