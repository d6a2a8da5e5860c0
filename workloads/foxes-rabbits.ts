/** Foxes and rabbits: a predator-prey simulation. The cost is proportional to the generations. */

import { defineWorkload, reply } from 'plimsoll/workload'
import { advance, startLife } from './foxes-rabbits/life.ts'
import { draw, type History } from './foxes-rabbits/picture.ts'
import { type ScenarioNumber, scenarios } from './foxes-rabbits/scenarios.ts'
import { type WorldNumber, worlds } from './foxes-rabbits/worlds.ts'
import { choice, parameters, whole } from './params/fields.ts'

/** Maximum number of samples in a response. */
const mostSamples = 250
/** Cost of creating a world, in turns of each cell, and of drawing the picture, in turns. */
const beginningTurns = 15
const drawingTurns = 2_300_000
/** Cell turns between progress reports: a few milliseconds. */
const cellsPerProgress = 400_000

export default defineWorkload({
  name: 'foxes-rabbits',
  description:
    'The populations of foxes and rabbits in a world, over generations, as JSON or as a PNG picture',
  deterministic: true,
  params: parameters({
    world: whole({ min: 1, max: 4 })
      .default(2)
      .describe(
        '1 a meadow, 2 a land of ponds, 3 a lake district, 4 an archipelago; each is four times as large as the previous',
      ),
    scenario: whole({ min: 1, max: 3 }).default(1).describe('1 balance, 2 plenty, 3 drought'),
    generations: whole({ min: 1, max: 10_000 }).default(300),
    seed: whole({ min: 0, max: 4_294_967_295 })
      .default(1)
      .describe('Seed of the initial population and all random events'),
    output: choice(['json', 'png'])
      .default('json')
      .describe('Population numbers, or a picture of the last state and the history'),
  }),
  features({ world, scenario, generations, output }) {
    const cells = cellsOf(world as WorldNumber)
    const cellTurns = generations * cells
    const steps = cellTurns + beginningTurns * cells + (output === 'png' ? drawingTurns : 0)
    return { habitat: `${world}:${scenario}`, generations, cells, cellTurns, steps, output }
  },
  meter: { packages: ['fast-png', 'fflate', 'iobuffer'] },

  run({ world, scenario, generations, seed, output }, ctx) {
    const life = startLife(worlds[world as WorldNumber], scenarios[scenario as ScenarioNumber], seed)
    const history = { rabbits: new Uint32Array(generations + 1), foxes: new Uint32Array(generations + 1) }
    const progressEvery = Math.ceil(cellsPerProgress / cellsOf(world as WorldNumber))
    for (let generation = 0; ; generation++) {
      history.rabbits[generation] = life.rabbits
      history.foxes[generation] = life.foxes
      if (generation % progressEvery === 0) ctx.progress(generation / generations)
      if (generation === generations) break
      advance(life)
    }
    const answer =
      output === 'png'
        ? reply(draw(life, history), { contentType: 'image/png' })
        : {
            world,
            scenario,
            generations,
            seed,
            ...sampled(history),
          }
    ctx.progress(1)
    return answer
  },
})

function cellsOf(world: WorldNumber): number {
  return worlds[world].width * worlds[world].height
}

/** Evenly spaced generations, and the last one. */
function sampled({ rabbits, foxes }: History) {
  const last = rabbits.length - 1
  const every = Math.ceil(last / (mostSamples - 1))
  const samples: { generation: number; rabbits: number; foxes: number }[] = []
  for (let generation = 0; generation < last + every; generation += every) {
    const at = Math.min(generation, last)
    samples.push({ generation: at, rabbits: rabbits[at]!, foxes: foxes[at]! })
  }
  return { every, samples }
}
