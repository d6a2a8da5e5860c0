import assert from 'node:assert/strict'
import { test } from 'node:test'
import { only, sent, Trial } from '../testing/trial.ts'

const scheduler = 'weighted-round-robin'
const limits = { crashes: 1000, losses: 1000, attempts: 1000 }

test('equal workers take turns, whatever they hold', () => {
  const trial = new Trial({ scheduler })
  for (const id of ['a', 'b', 'c']) trial.joins(id)
  for (let i = 1; i <= 5; i++) trial.arrives(`j${i}`)
  assert.deepEqual(sent(trial.history), ['j1 a', 'j2 b', 'j3 c', 'j4 a', 'j5 b'])
  trial.finishes('j3')
  assert.deepEqual(sent([...trial.arrives('j6'), ...trial.arrives('j7')]), ['j6 c', 'j7 a'])
})

test('a worker with five cores gets five jobs of seven, spread over the round', () => {
  const trial = new Trial({ scheduler })
  trial.joins('a', { cores: 5, slots: 1000 })
  for (const id of ['b', 'c']) trial.joins(id, { slots: 1000 })
  for (let i = 0; i < 70; i++) trial.arrives(`j${i}`)
  const order = only(trial.history, 'run').map(({ worker }) => worker)
  for (let round = 0; round < 70; round += 7)
    assert.deepEqual(
      order
        .slice(round, round + 7)
        .sort()
        .join(''),
      'aaaaabc',
    )
  assert.doesNotMatch(order.join(''), /aaaaaaa|[bc]{3}/)
})

test('a worker that was full does not catch up on the turns it missed', () => {
  const trial = new Trial({ scheduler })
  trial.joins('a', { slots: 1 })
  trial.joins('b', { slots: 1000 })
  for (let i = 0; i < 20; i++) trial.arrives(`j${i}`)
  trial.finishes('j0')
  trial.arrives('x')
  trial.finishes('x')
  assert.deepEqual(sent([...trial.arrives('y'), ...trial.arrives('z')]), ['y b', 'z a'])
})

test('a worker at which an attempt failed gets no jobs for ten seconds', () => {
  const trial = new Trial({ scheduler, limits })
  for (const id of ['a', 'b', 'c']) trial.joins(id, { slots: 100 })
  trial.arrives('first')
  trial.fails('first', 'crash')
  const during = Array.from({ length: 6 }, (_, i) => sent(trial.arrives(`d${i}`))).flat()
  assert.ok(
    during.every((each) => !each.endsWith(' a')),
    during.join(),
  )
  trial.after(10_000)
  const after = Array.from({ length: 3 }, (_, i) => sent(trial.arrives(`e${i}`))).flat()
  assert.ok(
    after.some((each) => each.endsWith(' a')),
    after.join(),
  )
})

test('failures count only within the time for which a worker would rest', () => {
  const trial = new Trial({ scheduler, limits, placing: { maxFails: 2, failMs: 1000 } })
  for (const id of ['a', 'b']) trial.joins(id, { slots: 100 })
  const failAtA = (job: string): void => {
    trial.arrives(job)
    if (trial.at(job).worker !== 'a') return failAtA(`${job}'`)
    trial.fails(job, 'crash')
  }
  failAtA('x')
  trial.after(1000)
  failAtA('y')
  assert.ok(sent([...trial.arrives('p'), ...trial.arrives('q')]).some((each) => each.endsWith(' a')))
  failAtA('z')
  assert.ok(sent([...trial.arrives('r'), ...trial.arrives('s')]).every((each) => each.endsWith(' b')))
})

test('when all workers rest, they take turns rather than leave jobs queued', () => {
  const trial = new Trial({ scheduler, limits })
  trial.joins('a', { slots: 100 })
  trial.arrives('first')
  trial.fails('first', 'crash')
  assert.deepEqual(sent(trial.arrives('second')), ['second a'])
  assert.equal(only(trial.history, 'run').at(-1)!.reason.code, 'all-rest')
})

test('rejects invalid limits', () => {
  for (const placing of [{ maxFails: -1 }, { maxFails: 1.5 }, { failMs: -1 }, { failMs: Infinity }])
    assert.throws(
      () => new Trial({ scheduler, placing }),
      /^ConfigError: placing\.(maxFails|failMs) = .*: must be/,
    )
})
