import assert from 'node:assert/strict'
import test from 'node:test'
import { stream } from '../../lib/random.ts'
import { type SeatedFront, seatSteps, wantedAfterFailure } from './seat.ts'

const front = (id: string, generation: number, state: SeatedFront['state']): SeatedFront => ({
  ...{ id, generation, state },
})
const ids = (fronts: readonly SeatedFront[]) => fronts.map(({ id }) => id)

test('a front stays until its successor listens, then leaves', () => {
  const before = front('a', 1, 'listening')
  const starting = seatSteps([before, front('b', 2, 'starting')], 2)
  assert.deepEqual(starting, { launch: false, leave: [], end: [] })
  const listening = seatSteps([before, front('b', 2, 'listening')], 2)
  assert.deepEqual([listening.launch, ids(listening.leave), ids(listening.end)], [false, ['a'], []])
})

test('a front that was killed while its successor starts is not replaced twice', () => {
  assert.equal(seatSteps([front('b', 2, 'starting')], 2).launch, false)
})

test('a successor that does not start leaves the seat to the front before it', () => {
  const before = front('a', 1, 'listening')
  assert.equal(wantedAfterFailure([before], 2), 1)
  assert.deepEqual(seatSteps([before], 1), { launch: false, leave: [], end: [] })
  assert.equal(wantedAfterFailure([], 2), 2, 'both are gone: the new code is started')
  assert.equal(wantedAfterFailure([front('a', 1, 'leaving')], 2), 2)
})

test('whatever ends at any moment of a replacement, one front stays and the others leave', () => {
  for (let seed = 0; seed < 500; seed++) {
    const random = stream(seed, 'seat')
    let fronts: SeatedFront[] = []
    let wanted = 1
    let count = 0
    const settle = () => {
      const { launch, leave, end } = seatSteps(fronts, wanted)
      for (const each of leave) each.state = 'leaving'
      fronts = fronts.filter((each) => !end.includes(each))
      if (launch) fronts.push(front(`f${++count}`, wanted, 'starting'))
    }
    const remove = (gone: SeatedFront) => {
      fronts = fronts.filter((each) => each !== gone)
      if (gone.state === 'starting') wanted = wantedAfterFailure(fronts, wanted)
    }
    settle()
    for (let step = 0; step < 60; step++) {
      const any = fronts[random.below(fronts.length)]
      const kind = random.below(4)
      if (kind === 0) wanted = Math.max(wanted, ...fronts.map(({ generation }) => generation)) + 1
      else if (kind === 1 && any) remove(any)
      else if (any?.state === 'starting') any.state = 'listening'
      settle()
      const staying = fronts.filter(({ state }) => state !== 'leaving')
      assert.ok(staying.length >= 1 && staying.length <= 2, `seed ${seed}: ${JSON.stringify(fronts)}`)
    }
    for (const each of fronts) if (each.state === 'starting') each.state = 'listening'
    settle()
    const [one, ...more] = fronts.filter(({ state }) => state !== 'leaving')
    assert.deepEqual([one?.state, one?.generation, more.length], ['listening', wanted, 0], `seed ${seed}`)
  }
})
