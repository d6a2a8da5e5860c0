import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { answers, only, sent } from '../../brain/testing/trial.ts'
import { presetGroups, presetOf } from '../presets.ts'
import { launches, PresetTrial, steps } from '../testing/presets.ts'

const machine = { workPerSecond: 1000, cores: 1, bootMs: 1000 }

/** The preset's brain with workers a, b, c … of one core. */
function trialOf(name: string, workers: number): PresetTrial {
  const trial = new PresetTrial(name, { min: workers, max: Math.max(10, workers) }, machine)
  for (let i = 0; i < workers; i++) trial.boots()
  return trial
}

for (const name of presetGroups.peers!.filter((each) => each !== 'plimsoll'))
  describe(name, () => {
    test('says what it imitates and what it leaves out', () => {
      const { description, about = [] } = presetOf(name)
      assert.match(description, /^Imitates /)
      assert.match(about.join('\n'), /^Left out: /m)
      for (const line of about) assert.ok(line.length <= 120, line)
    })

    test('divides its times by the time scale', () => {
      const [whole, tenth] = [presetOf(name), presetOf(name, { timeScale: 10 })]
      const { syncMs, stabiliseDownMs, tickMs, stableMs, graceMs } = whole.scale!
      const times = { syncMs, stabiliseDownMs, tickMs, stableMs, graceMs }
      for (const [key, ms] of Object.entries(times))
        assert.equal(tenth.scale![key as keyof typeof times], ms && ms / 10)
    })
  })

test('nginx: in turn, and a worker that failed rests for ten seconds', () => {
  const trial = trialOf('nginx', 3)
  for (let i = 1; i <= 4; i++) trial.arrives(`j${i}`)
  assert.deepEqual(sent(trial.history), ['j1 a', 'j2 b', 'j3 c', 'j4 a'])
  assert.deepEqual(sent(trial.fails('j2', 'crash')), ['j2 c'])
  assert.deepEqual(sent([...trial.arrives('j5'), ...trial.arrives('j6')]), ['j5 a', 'j6 c'])
  trial.after(10_000)
  assert.deepEqual(sent(trial.arrives('j7')), ['j7 b'])
})

test('haproxy-leastconn: a worker has at most 20 requests, and one that waits a minute is rejected', () => {
  const { slots } = presetOf('haproxy-leastconn')
  assert.equal(slots, 20)
  const trial = new PresetTrial('haproxy-leastconn', { min: 1, max: 1 }, machine)
  trial.boots(slots)
  for (let i = 1; i <= 21; i++) trial.arrives(`j${i}`)
  assert.equal(only(trial.history, 'run').length, 20)
  trial.after(59_999).tick()
  assert.deepEqual(answers(trial.history), [])
  trial.after(1).tick()
  assert.deepEqual(answers(trial.history), ['j21 refused waited'])
})

test('knative: no worker without requests, one for the first, and panic in a crowd', () => {
  const trial = new PresetTrial('knative', {}, machine)
  assert.equal(launches(trial.history), 0)
  // One request at 70 % of one per core.
  assert.deepEqual(steps(trial.arrives('first')), ['launch', 'launch'])
  trial.boots()
  assert.equal(sent(trial.history).length, 1)
  for (let i = 0; i < 20; i++) trial.arrives(`crowd${i}`)
  const crowd = trial.lives(8000, 1)
  assert.ok(launches(crowd) >= 10)
  assert.ok(only(crowd, 'launch').some(({ reason }) => reason.code === 'concurrency-panic'))
  trial.boots()
  for (const job of trial.runs.keys()) trial.finishes(job)
  const calm = trial.lives(60_000 * 3, 0)
  assert.equal(only(calm, 'drain').length, trial.machine.cores * launches(trial.history))
})
