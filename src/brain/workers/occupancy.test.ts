import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BrainParts, createBrain } from '../brain.ts'
import type { FleetView, ScaleDecision } from '../scale/scaler.ts'
import { leastConnections } from '../schedule/least-connections.ts'
import { srpt } from '../schedule/srpt.ts'
import { Trial } from '../testing/trial.ts'
import { Boots } from './boots.ts'
import { Occupancy } from './occupancy.ts'

/** A brain whose scaler records its view each time the fleet changes. */
function watched(parts: Pick<BrainParts, 'scheduler' | 'discipline'>) {
  const seen: FleetView[] = []
  const reason = { code: 'test' }
  const next: ScaleDecision[] = []
  const scaler = {
    name: 'watches',
    everyMs: 0,
    decide(view: FleetView): ScaleDecision {
      seen.push(view)
      return next.shift() ?? { kind: 'hold', reason }
    },
    save: () => null,
    load: () => {},
  }
  const trial = new Trial()
  trial.brain = createBrain({ scaler, ...parts })
  const launch = (count: number) => next.push({ kind: 'steps', reason, launch: { count, reason } })
  return { trial, seen, launch }
}

test('sums are numbers times the time, up to the moment of the question', () => {
  const occupancy = new Occupancy()
  occupancy.note(1000, 4, 1, 1)
  occupancy.note(3000, 4, 2, 5)
  assert.deepEqual(occupancy.sums(4000), { coreMs: 12_000, busyMs: 4000, jobMs: 7000 })
})

test('a brain counts the cores of ready workers and the busy ones among them, whatever happens to workers', () => {
  const { trial, seen } = watched({ scheduler: srpt, discipline: 'srpt' })
  // Sums over one second: cores, busy cores and jobs, times 1,000 ms.
  const busy = () => {
    trial.tell({ type: 'drain', worker: 'nobody' })
    const { coreMs, busyMs, jobMs } = seen.at(-1)!
    trial.after(1000).tell({ type: 'drain', worker: 'nobody' })
    const later = seen.at(-1)!
    return [later.coreMs - coreMs, later.busyMs - busyMs, later.jobMs - jobMs].map((ms) => ms / 1000)
  }
  trial.joins('a', { cores: 2 })
  trial.joins('b', { cores: 1 })
  for (const job of ['j1', 'j2', 'j3', 'j4']) trial.arrives(job, { work: 100_000 })
  assert.deepEqual(busy(), [3, 3, 4])
  trial.tell({ type: 'drain', worker: 'b' })
  assert.deepEqual(busy(), [2, 2, 4])
  trial.tell({ type: 'lost', worker: 'a' })
  assert.deepEqual(busy(), [0, 0, 4])
  trial.joins('c', { cores: 4 })
  assert.deepEqual(busy(), [4, 3, 4])
})

test('percentiles of boot times come from the last boots', () => {
  const boots = new Boots()
  assert.equal(boots.percentile(90), undefined)
  for (let i = 1; i <= 10; i++) boots.add(i * 1000)
  assert.deepEqual([boots.percentile(50), boots.percentile(90), boots.percentile(100)], [5000, 9000, 10_000])
  for (let i = 0; i < 64; i++) boots.add(500)
  assert.equal(boots.percentile(100), 500)
})

test('a brain learns boot times from its launches', () => {
  const { trial, seen, launch } = watched({ scheduler: leastConnections, discipline: 'sharing' })
  launch(2)
  trial.tell({ type: 'drain', worker: 'nobody' })
  trial.after(7000).joins('a', {}, { launch: '1-1' })
  assert.equal(seen.at(-1)!.bootMs, 7000)
  trial.after(1000).joins('b', {}, { launch: '1-2' })
  assert.equal(seen.at(-1)!.bootMs, 8000)
  trial.joins('uncalled')
  assert.equal(seen.at(-1)!.bootMs, 8000)
})
