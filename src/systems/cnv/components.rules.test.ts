import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Trial } from '../../brain/testing/trial.ts'
import { openComponentLog } from '../../story/component-log.ts'

test('CN-13 each decision is logged under its component: balancer, autoscaler, queue, placement, retraining', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-components-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'components.log')
  const log = openComponentLog(file, assert.fail)
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
  const lines = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const seen = lines.map(({ component, type, job }) => [component, type, job].join(' ').trim())
  for (const each of [
    'autoscaler launch',
    'placement run one',
    'queue wait two',
    'balancer answer one',
    'placement run two',
  ])
    assert.ok(seen.includes(each), `${each} in ${seen.join(', ')}`)
  assert.deepEqual(
    { ...lines.at(-1), at: 0 },
    { at: 0, component: 'retraining', why: 'models of dna rebuilt from 7 rows' },
  )
  assert.match(lines.find(({ type }) => type === 'wait').why, /no worker has the capacity left/)
})
