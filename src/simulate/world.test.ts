import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { BrainLimits } from '../brain/core.ts'
import type { Event } from '../model.ts'
import { arrivalsFromFile } from './arrivals.ts'
import { simulate, unitsPerSecond } from './simulate.ts'
import { exponential } from './sizes.ts'
import { World } from './world.ts'

const fleet = { cores: 1, workPerSecond: unitsPerSecond, memoryMb: 1000, slots: 10, bootMs: 0 }
const brain = (limits: Partial<BrainLimits> = {}) => ({
  scheduler: 'srpt' as const,
  discipline: 'srpt' as const,
  scale: { min: 1, max: 1 },
  epoch: 1,
  seed: 1,
  limits,
})

/** A world, and the events that its brain was told. */
function watched(
  limits: Partial<BrainLimits> = {},
  workPerSecond = unitsPerSecond,
): { world: World; events: Event[] } {
  const events: Event[] = []
  const world = new World({
    brain: brain(limits),
    seed: 1,
    fleet: { ...fleet, workPerSecond },
    observer: { observe: (event) => void events.push(event) },
  })
  return { world, events }
}

test('worker and brain agree on what a job that outgrew its estimate is taken to need', () => {
  for (const work of [1, 3, 1001, 100_000, 333_333]) {
    const { world } = watched({}, 100_000)
    world.begin()
    world.clock.step()
    world.submit({ id: 'j1', workload: 'w', work, memoryMb: 0 }, work * 10)
    world.clock.step()
    const node = [...world.nodes.values()][0]!
    const expected = node.worker.jobs[0]!.expected
    assert.equal(expected, work * 3)
    const believed = world.brain.view().workers[0]!.jobs[0]!.remaining
    assert.ok(Math.abs(believed - work * 1.5) <= 1, `${work}: ${believed}`)
  }
})

test('a job whose estimate is nothing comes to its end', () => {
  const { world, events } = watched()
  world.begin()
  world.clock.step()
  world.submit({ id: 'j1', workload: 'w', work: 0, memoryMb: 0 }, 1000)
  for (let i = 0; i < 100 && world.truths.size > 0; i++) world.clock.step()
  assert.equal(events.at(-1)!.type, 'finished')
})

test('a worker that is sent away when it joins says nothing more', () => {
  const { world, events } = watched({ beatMs: 100 })
  world.boot('nobody-asked', 'w1')
  for (let i = 0; i < 50; i++) world.clock.step(1000)
  const reports = events.filter((event) => event.type === 'reported' && event.worker === 'w1')
  assert.deepEqual(reports, [])
})

test('a run ends when its file of arrivals does, also while workers go on reporting', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-run-'))
  try {
    const path = join(folder, 'times')
    writeFileSync(path, '1\n2\n3\n')
    const spec = { brain: brain({ beatMs: 100 }), fleet, seed: 1, jobs: 10, errorSigma: 0 }
    let steps = 0
    const observer = {
      observe() {
        if (++steps > 10_000) throw new Error('the run goes on and on')
      },
    }
    const run = simulate({ ...spec, arrivals: arrivalsFromFile(path), sizes: exponential(0.1) }, { observer })
    assert.equal(run.summary().jobs, 3)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
