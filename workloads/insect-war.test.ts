/** Outcomes and reports of insect wars, and rejected input. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decode } from 'fast-png'
import { fakeContext } from 'plimsoll/testing'
import type { Report } from './insect-war/report.ts'
import insectWar from './insect-war.ts'
import { problems, readParams } from './testing/params.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

type Input = Record<string, unknown>

interface Picture {
  body: Uint8Array
  contentType: string
  headers: Record<string, string>
}

const fight = async (input: Input = {}, ctx = fakeContext()) =>
  (await insectWar.run(readParams(insectWar, input), ctx)) as Report
const draw = async (input: Input = {}) =>
  (await insectWar.run(readParams(insectWar, { output: 'png', ...input }), fakeContext())) as Picture

const someWar = fc.record({
  rounds: fc.integer({ min: 1, max: 250 }),
  army1: fc.integer({ min: 1, max: 120 }),
  army2: fc.integer({ min: 1, max: 120 }),
  seed: fc.nat(),
})

test('the numbers of every war are consistent', async () => {
  await fc.assert(
    fc.asyncProperty(someWar, async (params) => {
      const { winner, endedBy, rounds, casualties, heroes, ...armies } = await fight(params)
      for (const name of ['army1', 'army2'] as const) {
        const { insects, survivors, fallen, hatched, nestPercent, survivorsByKind } = armies[name]
        assert.equal(insects, params[name])
        assert.equal(survivors, insects + hatched - fallen)
        assert.ok(survivors >= 0 && survivors <= insects)
        assert.equal(total(Object.values(survivorsByKind)), survivors)
        assert.equal(total(casualties.map((entry) => entry[name])), fallen)
        assert.ok(nestPercent >= 0 && nestPercent <= 100)
      }
      assert.equal(casualties[0]!.fromRound, 1)
      assert.equal(casualties.at(-1)!.toRound, rounds)
      assert.ok(casualties.length <= 100)
      for (const [i, { fromRound }] of casualties.entries()) {
        if (i > 0) assert.equal(fromRound, casualties[i - 1]!.toRound + 1)
      }
      const [one, two] = [armies.army1, armies.army2]
      if (endedBy === 'rounds') {
        assert.equal(rounds, params.rounds)
        const better = one.fallen < two.fallen ? 'army1' : one.fallen > two.fallen ? 'army2' : 'draw'
        assert.equal(winner, better)
      } else {
        const loser = winner === 'army1' ? two : one
        assert.deepEqual([loser.survivors, loser.nestPercent], [0, 0])
      }
      const kills = heroes.map((hero) => hero.kills)
      assert.deepEqual(
        kills,
        kills.toSorted((a, b) => b - a),
      )
      assert.ok(heroes.length <= 10 && total(kills) <= one.fallen + two.fallen)
      for (const { hatchedInRound, fellInRound = rounds } of heroes) assert.ok(hatchedInRound <= fellInRound)
    }),
    { numRuns: 60 },
  )
})

const total = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0)

test('a war is deterministic and differs with the seed', async () => {
  const params = { army1: 80, army2: 60, rounds: 100 }
  assert.deepEqual(await fight(params), await fight(params))
  assert.notDeepEqual(await fight({ ...params, seed: 2 }), await fight(params))
  const { winner, army1, army2 } = await fight({ army1: 200, army2: 150, rounds: 120, seed: 7 })
  assert.deepEqual([winner, army1.fallen, army2.fallen], ['army1', 338, 342])
})

test('neither of two equal armies has an advantage', async () => {
  let [wins, fallen1, fallen2] = [0, 0, 0]
  for (let seed = 0; seed < 40; seed++) {
    const { winner, army1, army2 } = await fight({ army1: 50, army2: 50, rounds: 150, seed })
    if (winner === 'army1') wins++
    fallen1 += army1.fallen
    fallen2 += army2.fallen
  }
  assert.ok(wins >= 10 && wins <= 30, `the first army won ${wins} of 40`)
  assert.ok(Math.abs(fallen1 / fallen2 - 1) < 0.05)
})

test('a much larger army destroys the other and ends the war early', async () => {
  for (const [army1, army2] of [
    [90, 10],
    [10, 90],
  ] as const) {
    for (let seed = 0; seed < 5; seed++) {
      const { winner, endedBy, rounds } = await fight({ army1, army2, seed, rounds: 1000 })
      assert.equal(winner, army1 > army2 ? 'army1' : 'army2')
      assert.equal(endedBy, 'destruction')
      assert.ok(rounds < 500)
    }
  }
})

test('in a long war the losses of several rounds are combined', async () => {
  const { casualties, rounds } = await fight({ army1: 10, army2: 10, rounds: 1234 })
  assert.ok(casualties.length <= 100)
  assert.equal(casualties[0]!.toRound, Math.min(13, rounds))
})

test('progress grows to 1', async () => {
  for (const output of ['json', 'png']) {
    const ctx = fakeContext()
    await fight({ army1: 300, army2: 300, rounds: 120, output }, ctx)
    assert.ok(ctx.fractions.length > 2)
    assert.equal(ctx.fractions.at(-1), 1)
    assert.deepEqual(
      ctx.fractions,
      ctx.fractions.toSorted((a, b) => a - b),
    )
  }
})

test('the picture shows both armies, and its headers agree with the numbers', async () => {
  const params = { army1: 60, army2: 40, rounds: 40 }
  const { body, contentType, headers } = await draw(params)
  assert.equal(contentType, 'image/png')
  const { width, height, data, palette } = decode(body)
  assert.deepEqual([width, height], [28 * 9, 19 * 9])
  const colours = new Set(Array.from(data, (ink) => palette![ink]!.join()))
  for (const ant of ['226,71,47', '47,159,226']) assert.ok(colours.has(ant), ant)
  const { winner, endedBy, rounds, army1, army2 } = await fight(params)
  assert.deepEqual(headers, {
    'war-winner': winner,
    'war-ended-by': endedBy,
    'war-rounds': String(rounds),
    'war-survivors': `${army1.survivors},${army2.survivors}`,
    'war-fallen': `${army1.fallen},${army2.fallen}`,
  })
  assert.deepEqual((await draw(params)).body, body)
})

test('the picture of a large war is at most 1,024 pixels wide', async () => {
  for (const insects of [1, 500, 2500, 10_000]) {
    const { width, height } = decode((await draw({ army1: insects, army2: 3, rounds: 1 })).body)
    assert.ok(width <= 1024 && height < width, `${width} × ${height}`)
  }
})

test('the default is two armies of 500 and 200 rounds', async () => {
  const params = { rounds: 200, army1: 500, army2: 500, seed: 1, output: 'json' }
  assert.deepEqual(readParams(insectWar, {}), params)
  assert.equal((await fight()).rounds, 200)
})

test('features reflect the cost', () => {
  const input = readParams(insectWar, { rounds: 10, army1: 100, army2: 300 })
  const features = insectWar.features!(input, { bytes: 0, head: new Uint8Array() })
  const { dominance, turns, ...others } = features
  assert.deepEqual(others, { rounds: 10, insects: 400, insectRounds: 4000, output: 'json' })
  assert.ok(Number(dominance) < 1)
  assert.equal(turns, 4000)
})

test('invalid parameters are rejected with the allowed values', () => {
  const allowed = {
    rounds: 'a whole number from 1 to 5000',
    army1: 'a whole number from 1 to 10000',
    army2: 'a whole number from 1 to 10000',
    seed: 'a whole number from 0 to 4294967295',
    output: 'one of json, png',
  }
  for (const [name, range] of Object.entries(allowed)) {
    for (const value of ['', ' 1', 'abc', '1.5', 'NaN', true, null, [], {}, -1, 1.5, 1e13, NaN, Infinity]) {
      const shown = typeof value === 'number' ? value : JSON.stringify(value)
      assert.equal(problems(insectWar, { [name]: value }), `${name}: must be ${range}, not ${shown}`)
    }
  }
  for (const name of ['rounds', 'army1', 'army2'])
    assert.match(problems(insectWar, { [name]: 0 }), /must be a whole/)
  const names = 'rounds, army1, army2, seed, output'
  assert.equal(problems(insectWar, { armies: 2 }), `unknown: armies; allowed: ${names}`)
})
