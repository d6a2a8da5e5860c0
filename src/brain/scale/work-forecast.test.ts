import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../../lib/errors.ts'
import type { ScaleSpec } from '../../systems/scalers.ts'
import { fleetOf } from '../testing/scaling.ts'
import type { FleetView, ScaleDecision, Scaler } from './scaler.ts'
import { workForecast } from './work-forecast.ts'

const waits = (seconds: number, jobs: number): Partial<FleetView> => ({
  present: () => ({
    seconds,
    waitingSeconds: seconds,
    waitingJobs: jobs,
    drainingSeconds: 0,
    oldestWaitingMs: 0,
  }),
})

/** Jobs of one second arrive evenly, and the fleet has the wanted size at once. */
class Play {
  readonly scaler: Scaler
  now = 0
  ready = 0
  last: ScaleDecision | undefined

  constructor(spec: Partial<ScaleSpec> = {}) {
    this.scaler = workForecast({ min: 1, max: 100, ...spec })
    this.look()
  }

  look(view: Partial<FleetView> = {}): void {
    const decision = this.scaler.decide(fleetOf({ ready: this.ready, jobs: 1, ...view }), this.now)
    if (decision.kind !== 'scale') return
    this.last = decision
    this.ready = decision.to
  }

  go(perSecond: number, seconds: number, view: Partial<FleetView> = {}): number {
    for (let i = 0; i < seconds; i++) {
      for (let j = 0; j < perSecond; j++)
        if (this.scaler.arrived!(1, this.now + (j * 1000) / perSecond, false)) this.look(view)
      this.now += 1000
      if (this.now % 5000 === 0) this.look(view)
    }
    return this.ready
  }
}

test('the fleet follows arrivals times the cost of a job', () => {
  assert.equal(new Play().go(10, 600), 5)
  const halved = new Play()
  for (let i = 0; i < 100; i++)
    halved.scaler.finished!({ seconds: 0.5, expected: 1, unproven: false, hereMs: 500, late: undefined }, 0)
  assert.equal(halved.go(12, 600), 3, 'what estimates are wrong by is learned')
})

test('what unproven estimates say does not count; what such jobs took does', () => {
  const play = new Play()
  const finish = (seconds: number, expected: number) =>
    play.scaler.finished!(
      { seconds, expected, unproven: true, hereMs: seconds * 1000, late: undefined },
      play.now,
    )
  finish(1, 1e-3)
  for (let i = 0; i < 600; i++) {
    for (let j = 0; j < 5; j++) play.scaler.arrived!(1e6, play.now + j * 200, true)
    play.now += 1000
    for (let j = 0; j < 5; j++) finish(1, 1e6)
    if (play.now % 5000 === 0) play.look()
  }
  assert.equal(play.ready, 2)
})

test('a continuing rise is forecast one boot time ahead', () => {
  const play = new Play()
  play.go(10, 900)
  for (let perSecond = 11; perSecond <= 40; perSecond++) play.go(perSecond, 20)
  assert.ok(play.ready > 20, `${play.ready} workers where 40 cores are busy now`)
})

test('a surge causes a decision at once', () => {
  const play = new Play()
  play.go(4, 600)
  const before = play.ready
  play.go(40, 3)
  assert.ok(play.ready > before)
  assert.equal(play.last!.reason.code, 'forecast-crowd')
  assert.ok(play.go(40, 20) >= 15)
})

test('it shrinks only after wanting to for a while', () => {
  const play = new Play()
  const before = play.go(20, 600)
  assert.equal(play.go(4, 120), before)
  assert.ok(play.go(4, 600) <= 4)
})

test('one long queued job does not launch a worker, a large backlog does', () => {
  const play = new Play()
  const before = play.go(10, 600)
  assert.equal(play.go(10, 60, waits(100, 1)), before)
  assert.ok(play.go(10, 60, waits(20_000, 500)) > before + 2)
  assert.equal(play.last!.reason.code, 'forecast')
})

test('a tighter promise keeps more workers, and a broken one more still', () => {
  const usual = new Play().go(30, 900)
  const tight = new Play({ promise: 'largest 1 %: at most 1.1 on average' }).go(30, 900)
  assert.ok(tight > usual)
  const broken = new Play()
  for (let i = 0; i < 5000; i++)
    broken.scaler.finished!({ seconds: 1, expected: 1, unproven: false, hereMs: 3000, late: undefined }, 0)
  assert.ok(broken.go(30, 900) > usual)
})

test('missed deadlines count if they are promised', () => {
  const missed = (promise?: string) => {
    const play = new Play(promise === undefined ? {} : { promise })
    for (let i = 0; i < 200; i++)
      play.scaler.finished!({ seconds: 1, expected: 1, unproven: false, hereMs: 1000, late: i % 10 === 0 }, 0)
    return play.go(30, 900)
  }
  assert.ok(missed('deadlines: 99 %') > missed())
})

test('a budget bounds the fleet whatever the forecast', () => {
  const play = new Play({ promise: 'budget: 1 an hour', pricePerHour: 0.3 })
  assert.equal(play.go(100, 600), 3)
  assert.throws(
    () => workForecast({ min: 1, max: 5, promise: 'budget: 1 an hour' }),
    new ConfigError('scale.pricePerHour = 0: must be above 0 if the promise has a budget'),
  )
  assert.throws(
    () => workForecast({ min: 2, max: 5, promise: 'budget: 1 an hour', pricePerHour: 0.6 }),
    /must pay for 2 workers at 0.6 an hour/,
  )
})

test('the last worker ends after five minutes without arrivals, and the first job launches one at once', () => {
  const play = new Play({ min: 0 })
  play.go(1, 60)
  assert.equal(play.go(0, 240, { jobs: 0 }), 1)
  assert.equal(play.go(0, 600, { jobs: 0 }), 0)
  play.now += 1
  play.scaler.arrived!(1, play.now, false)
  play.look({ jobs: 1 })
  assert.equal(play.ready, 1)
})

test('the daily rhythm is used once a day has been seen', () => {
  const day = 86_400
  const perSecond = (second: number) => (second % day >= day / 2 ? 24 : 6)
  const play = new Play()
  for (let second = 0; second < day * 1.5 - 60; second += 20) play.go(perSecond(second), 20)
  const night = play.ready
  // Only the time of day predicts the rise.
  assert.ok(play.go(6, 40) >= night)
  assert.ok(play.ready > 3, `${play.ready} workers, where 6 cores are busy and 24 will be`)
})

test('with fast boots it decides more often and shrinks sooner', () => {
  const play = new Play()
  const before = play.go(20, 600)
  play.look({ bootMs: 500 })
  assert.equal(play.scaler.everyMs, 1000)
  const quick = { bootMs: 500 }
  for (let i = 0; i < 40; i++) {
    play.go(4, 1, quick)
    play.look(quick)
  }
  assert.ok(play.ready < before, `${play.ready} of ${before} are left`)
})
