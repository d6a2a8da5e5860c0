/** The rules of the simulation, the response, and rejected input. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode } from 'fast-png'
import { fakeContext } from 'plimsoll/testing'
import { advance, fox, free, type Life, rabbit, startLife, water } from './foxes-rabbits/life.ts'
import { scenarios } from './foxes-rabbits/scenarios.ts'
import { waterOf, worlds } from './foxes-rabbits/worlds.ts'
import foxesRabbits from './foxes-rabbits.ts'
import { problems, readParams } from './testing/params.ts'

interface Course {
  every: number
  samples: { generation: number; rabbits: number; foxes: number }[]
}

async function answer(input: Record<string, unknown> = {}, ctx = fakeContext()): Promise<unknown> {
  return await foxesRabbits.run(readParams(foxesRabbits, input), ctx)
}

/** One row of land with animals (R, F or none), all with this energy, on grass or bare ground. */
function island(animals: string, energy: number, bare: number): Life {
  const life = startLife(
    { width: animals.length, height: 1, water: 0, lake: 1 },
    { ...scenarios[1], rabbits: 0, foxes: 0 },
    1,
  )
  for (const [column, letter] of [...animals].entries()) {
    const at = animals.length + 3 + column
    life.cells[at] = letter === 'R' ? rabbit : letter === 'F' ? fox : free
    life.energy[at] = life.cells[at] === free ? 0 : energy
    life.bare[at] = bare
  }
  life.rabbits = [...animals].filter((letter) => letter === 'R').length
  life.foxes = [...animals].filter((letter) => letter === 'F').length
  return life
}

function seen({ world, cells }: Life): string {
  return Array.from(cells.subarray(world.width + 3, -world.width - 3), (who) => ' RF~'[who]).join('')
}

function energies({ world, energy }: Life): number[] {
  return [...energy.subarray(world.width + 3, -world.width - 3)].filter((units) => units > 0)
}

test('a rabbit without grass loses a unit of energy a generation and dies at 0', () => {
  const life = island(' R ', 3, 200)
  advance(life)
  assert.deepEqual([life.rabbits, energies(life)], [1, [2]])
  advance(life)
  advance(life)
  assert.deepEqual([life.rabbits, seen(life), energies(life)], [0, '   ', []])
})

test('a rabbit eats grass, which grows again', () => {
  const life = island('R', 3, 0)
  advance(life)
  assert.deepEqual(energies(life), [3 + scenarios[1].rabbit.meal - 1])
  const at = 4
  assert.equal(life.bare[at], scenarios[1].regrowth)
  for (let i = 0; i < 5; i++) advance(life)
  assert.equal(life.bare[at], scenarios[1].regrowth - 5)
})

test('an animal with enough energy reproduces and shares its energy equally', () => {
  const life = island('R ', scenarios[1].rabbit.breedsAt + 1, 200)
  advance(life)
  assert.deepEqual([life.rabbits, seen(life)], [2, 'RR'])
  assert.deepEqual(energies(life), [8, 8])
  const foxes = island('F ', scenarios[1].fox.breedsAt + 2, 200)
  advance(foxes)
  assert.deepEqual([foxes.foxes, seen(foxes), energies(foxes)], [2, 'FF', [25, 26]])
})

test('a fox eats an adjacent rabbit and moves to its cell', () => {
  for (const animals of ['FR', ' FR ', 'RF']) {
    const life = island(animals, 20, 200)
    advance(life)
    assert.deepEqual([life.rabbits, life.foxes], [0, 1], animals)
    assert.deepEqual(energies(life), [20 - 1 + scenarios[1].fox.meal])
  }
})

test('each animal has one turn per generation, however it moves', () => {
  const life = island('R        F', 15, 200)
  for (let generation = 1; generation < 7; generation++) {
    const before = seen(life)
    advance(life)
    assert.deepEqual(energies(life), [15 - generation, 15 - generation])
    for (const letter of 'RF') assert.ok(Math.abs(seen(life).indexOf(letter) - before.indexOf(letter)) <= 1)
  }
})

test('a blocked animal stays', () => {
  const life = island('R', 10, 200)
  advance(life)
  assert.equal(seen(life), 'R')
})

test('counts match the cells, water is empty, and all animals have energy', () => {
  for (const world of [1, 2] as const) {
    for (const scenario of [1, 2, 3] as const) {
      const life = startLife(worlds[world], scenarios[scenario], 3)
      const waterCells = life.cells.filter((who) => who === water).length
      for (let i = 0; i < 40; i++) advance(life)
      assert.equal(life.cells.filter((who) => who === rabbit).length, life.rabbits)
      assert.equal(life.cells.filter((who) => who === fox).length, life.foxes)
      assert.equal(life.cells.filter((who) => who === water).length, waterCells)
      for (const [at, who] of life.cells.entries()) {
        assert.equal(life.energy[at]! > 0, who === rabbit || who === fox)
      }
    }
  }
})

test('a world has its declared share of water and four times the cells of the previous one', () => {
  for (const world of [1, 2, 3, 4] as const) {
    const wet = waterOf(worlds[world])
    const share = wet.filter((cell) => cell === 1).length / wet.length
    assert.ok(Math.abs(share - worlds[world].water) < 0.02, `world ${world}: ${share}`)
    assert.equal(wet.length, 3072 * 4 ** (world - 1))
  }
})

test('both species survive for long in every scenario', async () => {
  for (const scenario of [1, 2, 3]) {
    const { samples } = (await answer({ world: 1, scenario, generations: 1500 })) as Course
    const last = samples.at(-1)!
    assert.ok(last.rabbits > 0 && last.foxes > 0, `scenario ${scenario}`)
  }
})

test('the history includes the first and last generation and is bounded', async () => {
  for (const generations of [1, 2, 249, 250, 1000]) {
    const { every, samples } = (await answer({ world: 1, generations })) as Course
    assert.ok(samples.length <= 250)
    assert.equal(samples[0]!.generation, 0)
    assert.equal(samples.at(-1)!.generation, generations)
    for (const [i, { generation }] of samples.slice(0, -1).entries()) assert.equal(generation, i * every)
  }
})

test('a longer history begins with the shorter one; another seed gives another history', async () => {
  const short = (await answer({ world: 1, generations: 50 })) as Course
  const long = (await answer({ world: 1, generations: 100 })) as Course
  assert.deepEqual(long.samples.slice(0, 51), short.samples)
  assert.notDeepEqual(
    ((await answer({ world: 1, generations: 50, seed: 2 })) as Course).samples,
    short.samples,
  )
})

test('the picture shows the animals of the last generation', async () => {
  for (const world of [1, 2, 3, 4] as const) {
    const params = { world, scenario: 2, generations: 5 }
    const { samples } = (await answer(params)) as Course
    const { body } = (await answer({ ...params, output: 'png' })) as { body: Uint8Array }
    const { width, height, data, palette } = decode(body)
    assert.deepEqual([width, height], [512, 512])
    const side = 512 / worlds[world].width
    const shades: number[] = []
    for (let row = Math.floor(side / 2); row < 384; row += side) {
      for (let column = Math.floor(side / 2); column < 512; column += side) {
        shades.push(data[row * 512 + column]!)
      }
    }
    const ofColour = (colour: number[]) => {
      return shades.filter((shade) => colour.every((level, i) => palette![shade]![i] === level)).length
    }
    assert.equal(ofColour([0xff, 0xf6, 0xdc]), samples.at(-1)!.rabbits)
    assert.equal(ofColour([0xe4, 0x42, 0x1e]), samples.at(-1)!.foxes)
  }
})

test('progress grows to 1', async () => {
  for (const output of ['json', 'png']) {
    const ctx = fakeContext()
    await answer({ world: 1, generations: 400, output }, ctx)
    assert.ok(ctx.fractions.length > 2)
    assert.deepEqual(
      ctx.fractions,
      ctx.fractions.toSorted((a, b) => a - b),
    )
    assert.equal(ctx.fractions.at(-1), 1)
  }
})

test('features reflect the cost', () => {
  const params = readParams(foxesRabbits, { world: 1, scenario: 3, generations: 10 })
  const features = foxesRabbits.features?.(params, { bytes: 0, head: new Uint8Array() })
  assert.deepEqual(features, {
    habitat: '1:3',
    generations: 10,
    cells: 3072,
    cellTurns: 30_720,
    steps: 76_800,
    output: 'json',
  })
})

test('invalid input is rejected with the allowed values', () => {
  for (const value of [0, -1, 5, 1.5, NaN, '', 'one', '2.0', true, null, [1], {}]) {
    assert.match(problems(foxesRabbits, { world: value }), /^world: must be a whole number from 1 to 4, not /)
  }
  assert.match(problems(foxesRabbits, { scenario: 4 }), /a whole number from 1 to 3/)
  assert.match(problems(foxesRabbits, { generations: 10_001 }), /a whole number from 1 to 10000/)
  assert.match(problems(foxesRabbits, { output: 'gif' }), /one of json, png/)
  assert.match(problems(foxesRabbits, { wolves: 1 }), /unknown: wolves; allowed: world, scenario/)
})
