import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Trial } from '../../brain/testing/trial.ts'
import { openComponentLog } from '../../story/component-log.ts'
import { presetOf } from '../presets.ts'

test('CN-13 CN-15 each decision is logged in the file of its component: balancer, autoscaler, queue, placement, retraining', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-components-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const log = openComponentLog(folder, presetOf('cnv').componentLog!, assert.fail)
  const trial = new Trial({ scheduler: 'pack-spread', placing: { mostWork: 10 }, scale: { min: 1, max: 1 } })
  trial.tick()
  trial.joins('a')
  trial.arrives('one', { work: 9 })
  trial.arrives('two', { work: 9 })
  trial.finishes('one')
  log.observe({ type: 'tick' }, trial.history, 5)
  log.line('retraining: models of dna rebuilt from 7 rows')
  log.line('fleet: not of a component')
  await log.close()
  const names = ['as', 'lb', 'placement', 'queue', 'retrain'].map((ending) => `cnv-${ending}.log`)
  assert.deepEqual(readdirSync(folder).sort(), names)
  const linesOf = (name: string) =>
    readFileSync(join(folder, `cnv-${name}.log`), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  const told = (name: string) => linesOf(name).map(({ type, job }) => [type, job].join(' ').trim())
  assert.deepEqual(told('as'), ['launch', 'abandon'])
  assert.deepEqual(told('placement'), ['run one', 'run two'])
  assert.deepEqual(told('queue'), ['wait two'])
  assert.deepEqual(told('lb'), ['answer one'])
  assert.deepEqual(
    linesOf('retrain').map((line) => ({ ...line, at: 0 })),
    [{ at: 0, component: 'retraining', why: 'models of dna rebuilt from 7 rows' }],
  )
  assert.match(linesOf('queue')[0].why, /no worker has the capacity left/)
})
