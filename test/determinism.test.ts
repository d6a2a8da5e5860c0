import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { poisson } from '../src/simulate/arrivals.ts'
import { chaos } from '../src/simulate/chaos.ts'
import { replay } from '../src/simulate/replay.ts'
import { simulate, unitsPerSecond } from '../src/simulate/simulate.ts'
import { pareto } from '../src/simulate/sizes.ts'
import { usualDiscipline } from '../src/systems/brain-spec.ts'
import { type SchedulerName, schedulers } from '../src/systems/schedulers.ts'
import { share } from './support/thorough.ts'

/** The hash of a run's event log, and the log. */
function run(scheduler: SchedulerName): { hash: string; lines: string[] } {
  const sizes = pareto()
  const hash = createHash('sha256')
  const chunks: Buffer[] = []
  simulate(
    {
      brain: {
        scheduler,
        discipline: usualDiscipline(scheduler),
        scale: { min: 3, max: 3 },
        epoch: 1,
        seed: 5,
        limits: {},
      },
      fleet: { cores: 2, workPerSecond: unitsPerSecond, memoryMb: 1000, slots: 12, bootMs: 100 },
      seed: 5,
      jobs: share(4000),
      arrivals: poisson((0.95 * 6) / sizes.meanSeconds),
      sizes,
      errorSigma: 0.5,
      memoryMb: 50,
    },
    {
      log(chunk) {
        hash.update(chunk)
        chunks.push(Buffer.from(chunk))
      },
    },
  )
  return { hash: hash.digest('hex'), lines: Buffer.concat(chunks).toString().trimEnd().split('\n') }
}

for (const policy of Object.keys(schedulers) as SchedulerName[]) {
  test(`${policy}: the same seed gives the same log`, () => {
    const { hash } = run(policy)
    assert.equal(run(policy).hash, hash)
  })

  test(`${policy}: the same seed gives the same log with faults`, () => {
    for (let seed = 1; seed <= share(20); seed++) {
      const [one, other] = [1, 2].map(() => chaos(policy, seed, { hash: true }).hash)
      assert.ok(one && one === other, `seed ${seed}`)
    }
  })

  test(`${policy}: a replayed log gives the same actions, and a changed one does not`, async () => {
    const { lines } = run(policy)
    const same = await replay(lines)
    assert.equal(same.difference, undefined)
    assert.equal(same.events, lines.length - 1)
    const changed = lines.map((line, i) => (i === 100 ? line.replace('"attempt":1', '"attempt":7') : line))
    assert.equal((await replay(changed)).difference?.line, 101)
  })
}

test('a log with shed jobs replays to the same actions, but not without their pressure', async () => {
  let shed = 0
  for (let seed = 1; seed <= 20; seed++) {
    const chunks: Buffer[] = []
    const run = chaos('srpt', seed, { log: (chunk) => void chunks.push(Buffer.from(chunk)) })
    const lines = Buffer.concat(chunks).toString().trimEnd().split('\n')
    assert.equal((await replay(lines)).difference, undefined, `seed ${seed}`)
    shed += run.shed
    const first = lines.findIndex((line) => line.includes('"code":"overloaded"'))
    assert.equal(first >= 0, run.shed > 0)
    if (first < 0) continue
    const calm = lines.map((line) => line.replace(/,"pressure":[\d.]+/, ''))
    assert.equal((await replay(calm)).difference?.line, first + 1)
  }
  assert.ok(shed > 20, `${shed} jobs were shed`)
})
