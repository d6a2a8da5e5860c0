import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settled } from './chaos-fleet.ts'
import { rank } from './clock.ts'
import { Faults } from './faults.ts'
import type { ProviderFaultRates } from './provider-faults.ts'
import { unitsPerSecond } from './simulate.ts'
import { noFaults } from './testing/no-faults.ts'
import { World } from './world.ts'

/** Three workers, without timeouts for heartbeats or booting: only the provider's lists reveal a loss. */
function world(seed: number, provider: Partial<ProviderFaultRates>): World {
  const faults = new Faults(
    { ...noFaults, untilMs: 20_000, provider: { ...noFaults.provider, ...provider } },
    seed,
  )
  const made = new World({
    brain: {
      ...{ scheduler: 'srpt', discipline: 'srpt', scale: { min: 3, max: 3 }, epoch: 1, seed },
      limits: { beatMs: 0, bootMs: 1e9, listMs: 1000, backoffMs: 100, backoffMaxMs: 1000 },
    },
    seed,
    fleet: { cores: 1, workPerSecond: unitsPerSecond, memoryMb: 1000, slots: 4, bootMs: 300 },
    faults,
  })
  made.begin()
  faults.begin(made)
  return made
}

function passes(made: World, untilMs: number): void {
  while (made.clock.step(untilMs));
}

test('lists alone reveal lost workers, which are replaced', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const made = world(seed, {})
    passes(made, 3000)
    assert.equal(made.nodes.size, 3)
    for (const node of [...made.nodes.values()]) made.clock.at(3000, rank.fault, () => node.die())
    passes(made, 10_000)
    settled(made, 3, 3)
    assert.equal(made.brain.view().ready, 3, `seed ${seed}`)
  }
})

for (const fault of ['launchFails', 'diesBooting', 'twinHangs'] as const) {
  test(`lists alone reveal launches with ${fault}`, () => {
    for (let seed = 1; seed <= 30; seed++) {
      const made = world(seed, { [fault]: 0.6 })
      passes(made, 40_000)
      settled(made, 3, 3)
      assert.equal(made.brain.view().ready, 3, `seed ${seed}`)
    }
  })
}

test('stray machines are ended, even if they never join', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const made = world(seed, { strayEveryMs: 1000 })
    passes(made, 18_000)
    const strays = made.provider.list().filter((launch) => launch.includes('stray'))
    assert.ok(strays.length < 10, `${strays.length} stray machines have piled up`)
    passes(made, 40_000)
    settled(made, 3, 3)
  }
})

test('a launch that hangs is ended when the brain abandons it', () => {
  const made = world(1, { launchHangs: 1 })
  passes(made, 5000)
  assert.equal(made.provider.list().length, 3)
  const [launch] = made.provider.list()
  made.tell({ type: 'launch-failed', launch: launch! })
  passes(made, 5050)
  assert.equal(made.provider.list().includes(launch!), false)
})
