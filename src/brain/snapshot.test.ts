import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { share } from '../../test/support/thorough.ts'
import { ConfigError } from '../lib/errors.ts'
import { poisson } from '../simulate/arrivals.ts'
import { chaos } from '../simulate/chaos.ts'
import { simulate, unitsPerSecond } from '../simulate/simulate.ts'
import { lognormal } from '../simulate/sizes.ts'
import { brainOf, usualDiscipline } from '../systems/brain-spec.ts'
import { type SchedulerName, schedulers } from '../systems/schedulers.ts'
import { only, Trial } from './testing/trial.ts'

const policies = Object.keys(schedulers) as SchedulerName[]

/** A brain in the middle of things: jobs that run, wait and were tried before, a drain, a suspect, launches. */
function midway(): Trial {
  const limits = { beatMs: 1000, backoffMs: 100, attempts: 50 }
  const trial = new Trial({ scheduler: 'srpt', scale: { min: 2, max: 3 }, limits })
  trial.tick()
  trial.joins('a', { slots: 3, cores: 2 }, { launch: '1-1' })
  trial.joins('b', { slots: 3 })
  for (let i = 0; i < 9; i++) trial.after(7).arrives(`j${i}`, { work: 5000 - 400 * i, deadlineAt: 9000 + i })
  trial.after(100).fails('j0', 'crash')
  trial.fails(trial.view.workers[1]!.jobs[0]!.job, 'unreachable')
  trial.tell({ type: 'drain', worker: 'a' })
  trial.tell({ type: 'launch-failed', launch: trial.view.booting[0]! })
  return trial
}

const viewed = ({ view: { idleBeside: _, leftBehind: __, ...facts } }: Trial) => facts

test('a restored brain believes what the saved one did, and saves the same again', () => {
  const trial = midway()
  const before = viewed(trial)
  const saved = trial.brain.snapshot()
  assert.ok(before.waiting.length > 0 && before.draining > 0 && before.timers > 0)
  assert.ok(before.workers.some((worker) => worker.suspect))
  trial.restores()
  assert.deepEqual(viewed(trial), before)
  assert.deepEqual(JSON.parse(JSON.stringify(trial.brain.snapshot())), JSON.parse(JSON.stringify(saved)))
})

test('a snapshot is not touched by what happens after it, nor by the brain restored from it', () => {
  const trial = midway()
  const saved = trial.brain.snapshot()
  const text = JSON.stringify(saved)
  trial.after(60_000).tick()
  assert.equal(JSON.stringify(saved), text)
  const restored = brainOf(trial.spec, saved)
  restored.handle({ type: 'tick' }, trial.now)
  assert.equal(JSON.stringify(saved), text)
})

test('workers that end together end in the same order after a restore', () => {
  const ended = (restore: boolean) => {
    const trial = new Trial()
    for (const id of ['a', 'b', 'c']) trial.joins(id)
    for (const job of ['j1', 'j2', 'j3']) trial.arrives(job, { deadlineAt: 100 })
    for (const worker of ['c', 'a', 'b']) trial.tell({ type: 'drain', worker })
    if (restore) trial.restores()
    return only(trial.after(100).tick(), 'terminate').map(({ worker }) => worker)
  }
  assert.deepEqual(ended(true), ended(false))
})

for (const policy of policies) {
  test(`${policy}: a restore in the middle of chaos goes on to the same log`, () => {
    for (let seed = 101; seed <= 100 + share(15); seed++) {
      const { hash, jobs } = chaos(policy, seed)
      for (const part of [0.2, 0.5, 0.9]) {
        assert.equal(chaos(policy, seed, { restoreAfter: Math.ceil(jobs * part) }).hash, hash, `seed ${seed}`)
      }
    }
  })

  test(`${policy}: a restore under load goes on to the same log`, () => {
    const run = (restoreAfter: number) => {
      const hash = createHash('sha256')
      const sizes = lognormal()
      const discipline = usualDiscipline(policy)
      const brain = {
        scheduler: policy,
        discipline,
        scale: { min: 2, max: 2 },
        epoch: 1,
        seed: 3,
        limits: {},
      }
      const fleet = { cores: 2, workPerSecond: unitsPerSecond, memoryMb: 100, slots: 6, bootMs: 50 }
      const arrivals = poisson(3.8 / sizes.meanSeconds)
      const spec = { brain, fleet, seed: 3, jobs: share(2500), arrivals, sizes, errorSigma: 1, memoryMb: 20 }
      simulate(spec, { restoreAfter, log: (chunk) => void hash.update(chunk) })
      return hash.digest('hex')
    }
    assert.equal(run(share(1200)), run(0))
  })
}

test('a snapshot of another version, policy, discipline, scaler or epoch is refused, naming both', () => {
  const trial = midway()
  const saved = trial.brain.snapshot()
  const refused = (change: object, message: string) =>
    assert.throws(() => brainOf(trial.spec, { ...saved, ...change }), new ConfigError(message))
  refused({ version: 99 }, 'snapshot version = 99: this brain has 3')
  refused({ scheduler: { name: 'other', state: null } }, 'snapshot scheduler = other: this brain has srpt')
  refused({ scaler: { name: 'other', state: null } }, 'snapshot scaler = other: this brain has fixed')
  refused({ discipline: 'fifo' }, 'snapshot discipline = fifo: this brain has srpt')
  refused({ epoch: 7 }, 'snapshot epoch = 7: this brain has 1')
  const other = { ...trial.spec, scheduler: 'round-robin' as const }
  assert.throws(
    () => brainOf(other, saved),
    new ConfigError('snapshot scheduler = srpt: this brain has round-robin'),
  )
})

test('a description that names no policy there is is refused with the list of names', () => {
  const { spec } = new Trial()
  const odd = { ...spec, scheduler: 'toString' as SchedulerName }
  assert.throws(() => brainOf(odd), {
    code: 'CONFIG',
    message: `scheduler = toString: must be one of ${policies.join(', ')}`,
  })
})
