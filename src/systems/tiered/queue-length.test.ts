import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FleetView, ScaleDecision } from '../../brain/scale/scaler.ts'
import { fleetOf } from '../../brain/testing/scaling.ts'
import { ConfigError } from '../../lib/errors.ts'
import { queueLength } from './queue-length.ts'
import { hourOf, startSizes, tierDefaults, tierSpecOf } from './tiers.ts'

const hourly = (servers: number) => ({ hours: Array.from({ length: 24 }, () => servers) })

/** A fleet with this many ready fronts among its nodes. */
function tieredFleet({
  fronts,
  ...facts
}: Partial<FleetView> & { ready: number; fronts: number }): FleetView {
  return fleetOf({ ...facts, inRole: (role) => (role === 'front' ? fronts : facts.ready - fronts) })
}

function launched(decision: ScaleDecision): number {
  return decision.kind === 'steps' ? (decision.launch?.count ?? 0) : 0
}

/** A tiered cluster whose nodes can join. */
function running(servers: number, max = 100) {
  const scaler = queueLength({ min: 1, max, tiers: hourly(servers) })
  const fleet = { ready: 0, fronts: 0, booting: 0, waiting: 0 }
  const join = (): string => {
    const { role } = scaler.roles!.assign(tieredFleet(fleet))
    fleet.booting--
    fleet.ready++
    if (role === 'front') fleet.fronts++
    return role
  }
  const decide = (now: number, facts: Partial<FleetView> = {}) => {
    const decision = scaler.decide(tieredFleet({ ...fleet, ...facts }), now)
    fleet.booting += launched(decision)
    return decision
  }
  return { scaler, fleet, decide, join }
}

test('TI-4 a third of the servers are fronts and twice as many middles, in whole numbers', () => {
  const sizes = [0, 2, 3, 5, 6, 7, 9, 11].map((servers) => startSizes(servers, tierDefaults))
  assert.deepEqual(
    sizes.map(({ front, middle }) => [front, middle]),
    [
      [1, 2],
      [1, 2],
      [1, 2],
      [1, 2],
      [2, 4],
      [2, 4],
      [3, 6],
      [3, 6],
    ],
  )
  assert.deepEqual(startSizes(6, { ...tierDefaults, minFront: 3, minMiddle: 4 }), { front: 3, middle: 8 })
})

test('TI-4 it starts with the number for the hour, and the coordinator is one of the fronts', () => {
  const { decide, join, fleet } = running(6)
  const decision = decide(0)
  assert.equal(launched(decision), 5)
  assert.deepEqual(decision.reason, { code: 'tiers-start', hour: 0, servers: 6, front: 2, middle: 4 })
  const roles = Array.from({ length: 5 }, join)
  assert.deepEqual(roles.toSorted(), ['front', 'middle', 'middle', 'middle', 'middle'])
  assert.equal(roles[0], 'middle', 'without a middle no request is processed')
  assert.equal(launched(decide(1)), 0)
  assert.deepEqual([fleet.ready, fleet.fronts], [5, 1])
})

test('TI-4 the hour is in UTC, or of a shorter day', () => {
  assert.equal(hourOf(Date.UTC(2026, 4, 5, 17, 59), 3_600_000), 17)
  assert.equal(hourOf(25 * 60_000, 60_000), 1)
  const hours = Array.from({ length: 24 }, (_, hour) => (hour === 17 ? 9 : 3))
  const scaler = queueLength({ min: 1, max: 100, tiers: { hours } })
  assert.equal(launched(scaler.decide(fleetOf({ ready: 0 }), Date.UTC(2026, 4, 5, 17))), 8)
})

test('TI-5 above 1.5 queued requests per server it adds the excess as middles, and a quarter as many fronts', () => {
  const { decide, join, fleet } = running(3)
  decide(0)
  join()
  join()
  // Three servers with the coordinator: 4 queued are not above 4.5, and 5 exceed it by half a node.
  assert.equal(launched(decide(1500, { waiting: 4 })), 0)
  assert.equal(launched(decide(3000, { waiting: 5 })), 0)
  const decision = decide(4500, { waiting: 14 })
  assert.deepEqual(decision.reason, { code: 'queue-long', queued: 14, servers: 3, middle: 9, front: 2 })
  assert.equal(launched(decision), 11)
  const roles = Array.from({ length: 11 }, join)
  assert.equal(roles.filter((role) => role === 'front').length, 2)
  assert.deepEqual([fleet.ready, fleet.fronts], [13, 2])
})

test('TI-5 booting servers count, so that one queue does not cause growth twice', () => {
  const { decide, join, fleet } = running(3)
  decide(0)
  join()
  join()
  assert.equal(launched(decide(1500, { waiting: 10 })), 6)
  assert.equal(fleet.booting, 6)
  // 9 servers, 6 of them booting.
  assert.equal(launched(decide(3000, { waiting: 13 })), 0)
  assert.equal(launched(decide(4500, { waiting: 15 })), 1)
})

test('TI-5 it checks every 1.5 s and not in between', () => {
  const { decide, join } = running(3)
  decide(0)
  join()
  join()
  assert.equal(launched(decide(1499, { waiting: 50 })), 0)
  assert.ok(launched(decide(1500, { waiting: 50 })) > 0)
})

test('TI-5 at the maximum one in five added nodes is a front', () => {
  const { decide, join, fleet } = running(3, 12)
  decide(0)
  join()
  join()
  const decision = decide(1500, { waiting: 1000 })
  assert.equal(launched(decision), 10)
  assert.deepEqual([decision.reason.middle, decision.reason.front], [8, 2])
  for (let i = 0; i < 10; i++) join()
  assert.equal(launched(decide(3000, { waiting: 1000 })), 0)
  assert.deepEqual([fleet.ready, fleet.fronts], [12, 2])
})

test('a lost node is replaced by one of its tier, and a failed launch is repeated', () => {
  const { scaler, decide, join, fleet } = running(6)
  decide(0)
  while (fleet.booting > 0) join()
  scaler.lost!('a', 100, 'front')
  fleet.ready--
  fleet.fronts--
  assert.equal(launched(decide(100)), 1)
  fleet.booting--
  assert.equal(launched(decide(200)), 1)
  assert.equal(join(), 'front')
})

test('a node that left is not replaced, but each tier keeps its minimum', () => {
  const { decide, join, fleet } = running(3)
  decide(0)
  join()
  join()
  fleet.ready = 1
  assert.equal(launched(decide(100)), 0)
  fleet.ready = 0
  assert.equal(launched(decide(200)), 1)
  assert.equal(join(), 'middle')
})

test('under a low maximum each tier gets its minimum before the other gets more', () => {
  const hours = Array.from({ length: 24 }, () => 9)
  const scaler = queueLength({ min: 1, max: 3, tiers: { hours, minFront: 3 } })
  assert.equal(launched(scaler.decide(fleetOf({ ready: 0 }), 0)), 3)
  const fleet = { ready: 0, fronts: 0 }
  const roles = Array.from({ length: 3 }, () => {
    const { role } = scaler.roles!.assign(tieredFleet(fleet))
    fleet.ready++
    if (role === 'front') fleet.fronts++
    return role
  })
  assert.deepEqual(roles, ['middle', 'front', 'front'])
})

test('invalid options are rejected', () => {
  const wrong = [
    { hours: [1, 2, 3] },
    { minMiddle: 0 },
    { minFront: 0 },
    { everyMs: 0 },
    { endEveryMs: Number.NaN },
    { dropAfterMs: { browse: -1 } },
    { ending: { ...tierDefaults.ending, front: { idleMs: 0, gapMs: 1, gaps: 1 } } },
  ]
  for (const tiers of wrong) assert.throws(() => tierSpecOf(tiers), ConfigError, JSON.stringify(tiers))
  assert.throws(() => queueLength({ min: 1, max: 2, tiers: { minFront: 2, minMiddle: 2 } }), /scale\.max = 2/)
})

test('TI-7 a front may leave only if, with the coordinator, the minimum of fronts remains', () => {
  const { roles } = queueLength({ min: 0, max: 9, tiers: { minFront: 2 } })
  const request = { worker: 'f', role: 'front', why: 'idle', ms: 1001 }
  const asked = (fronts: number) => roles!.mayLeave(request, tieredFleet({ ready: 5, fronts }), 0)
  assert.deepEqual(asked(1), {
    granted: false,
    reason: { code: 'too-few', role: 'front', left: 1, least: 2 },
  })
  assert.deepEqual(asked(2), { granted: true, reason: { code: 'asked-idle', ms: 1001 } })
})
