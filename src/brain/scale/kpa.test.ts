import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fleetOf } from '../testing/scaling.ts'
import { kpa } from './kpa.ts'
import type { Scaler } from './scaler.ts'

const spec = { min: 0, max: 1000, target: 0.5 }

/** A constant number of jobs, on the fleet that the scaler asks for. Returns its size every two seconds. */
class Play {
  readonly scaler: Scaler
  now = 0
  jobMs = 0
  ready: number

  constructor(ready: number) {
    this.ready = ready
    this.scaler = kpa(spec)
    this.scaler.decide(fleetOf({ ready }), 0)
  }

  go(jobs: number, seconds: number): number[] {
    const sizes: number[] = []
    for (const until = this.now + seconds * 1000; this.now < until; ) {
      this.now += 2000
      this.jobMs += 2000 * jobs
      const decision = this.scaler.decide(fleetOf({ ready: this.ready, jobs, jobMs: this.jobMs }), this.now)
      if (decision.kind === 'scale') this.ready = decision.to
      sizes.push(this.ready)
    }
    return sizes
  }
}

test('it follows the mean concurrency over a minute', () => {
  const play = new Play(4)
  assert.equal(play.go(4, 60).at(-1), 4)
  const rising = play.go(6, 60)
  assert.ok(rising[5]! < 6, 'not at once')
  assert.equal(rising.at(-1), 6)
})

test('it panics when six seconds ask for twice the fleet, and then does not shrink for a minute', () => {
  const play = new Play(4)
  play.go(4, 60)
  const crowd = play.go(40, 10)
  assert.equal(crowd.at(-1), 40)
  const after = play.go(1, 48)
  assert.ok(after.every((size) => size >= 40))
  assert.ok(play.go(1, 120).at(-1)! <= 2)
})

test('the last worker ends after the window and the grace period without jobs', () => {
  const play = new Play(1)
  play.go(1, 60)
  assert.equal(play.go(0, 60).at(-1), 1)
  assert.equal(play.go(0, 40).at(-1), 0)
})

test('a job arriving at an empty fleet launches a worker at once', () => {
  const play = new Play(0)
  const decision = play.scaler.decide(fleetOf({ ready: 0, jobs: 1 }), 100)
  assert.equal(decision.kind === 'scale' && decision.to, 1)
})
