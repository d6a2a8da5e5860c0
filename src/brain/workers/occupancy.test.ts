import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Trial } from '../testing/trial.ts'
import { Boots } from './boots.ts'
import { Occupancy } from './occupancy.ts'

test('sums are what was there times how long, up to the moment of asking', () => {
  const occupancy = new Occupancy()
  occupancy.note(1000, 4, 1, 1)
  occupancy.note(3000, 4, 2, 5)
  assert.deepEqual(occupancy.sums(4000), { coreMs: 12_000, busyMs: 4000, jobMs: 7000 })
  const other = new Occupancy()
  other.load(JSON.parse(JSON.stringify(occupancy.save())))
  assert.deepEqual(other.sums(9000), occupancy.sums(9000))
})

test('a brain counts the cores of ready workers and those that run a job, whatever becomes of the workers', () => {
  const trial = new Trial({ scheduler: 'srpt' })
  const busy = () => {
    const { cores, busy, jobs } = trial.brain.snapshot().occupancy
    return [cores, busy, jobs]
  }
  trial.joins('a', { cores: 2 })
  trial.joins('b', { cores: 1 })
  for (const job of ['j1', 'j2', 'j3', 'j4']) trial.arrives(job, { work: 100_000 })
  assert.deepEqual(busy(), [3, 3, 4])
  trial.restores()
  assert.deepEqual(busy(), [3, 3, 4])
  trial.tell({ type: 'drain', worker: 'b' })
  assert.deepEqual(busy(), [2, 2, 4])
  trial.tell({ type: 'lost', worker: 'a' })
  assert.deepEqual(busy(), [0, 0, 4])
  trial.joins('c', { cores: 4 })
  assert.deepEqual(busy(), [4, 3, 4])
})

test('how long boots take is known for a share of them, of the last ones', () => {
  const boots = new Boots()
  assert.equal(boots.percentile(90), undefined)
  for (let i = 1; i <= 10; i++) boots.add(i * 1000)
  assert.deepEqual([boots.percentile(50), boots.percentile(90), boots.percentile(100)], [5000, 9000, 10_000])
  for (let i = 0; i < 64; i++) boots.add(500)
  assert.equal(boots.percentile(100), 500)
  const other = new Boots()
  other.load(boots.save())
  assert.deepEqual(other.save(), boots.save())
})

test('a brain learns how long its launches take', () => {
  const trial = new Trial({ scale: { min: 2, max: 2 } })
  trial.tick()
  trial.after(7000).joins('a', {}, { launch: '1-1' })
  trial.after(1000).joins('b', {}, { launch: '1-2' })
  trial.joins('uncalled')
  assert.deepEqual(trial.brain.snapshot().boots, [7000, 8000])
})
