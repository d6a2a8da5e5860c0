/** Insect war: two armies fight and hatch on a field. The cost grows with rounds × insects. */

import { defineWorkload, reply } from 'plimsoll/workload'
import { Heroes } from './insect-war/heroes.ts'
import { outlookOf } from './insect-war/outlook.ts'
import { drawField } from './insect-war/picture.ts'
import { casualtyList, isOver, type Report, reportOf } from './insect-war/report.ts'
import { fighting } from './insect-war/round.ts'
import { prepareWar } from './insect-war/war.ts'
import { choice, parameters, whole } from './params/fields.ts'

const army = whole({ min: 1, max: 10_000 }).default(500)

/** Insect turns between progress reports: a few milliseconds. */
const turnsPerProgress = 20_000

export default defineWorkload({
  name: 'insect-war',
  description: 'Simulates a war of two insect armies: winner, losses and heroes, or a picture of the field',
  deterministic: true,
  params: parameters({
    rounds: whole({ min: 1, max: 5000 })
      .default(200)
      .describe('Maximum number of rounds; the war ends earlier if an army and its nest are destroyed'),
    army1: army.describe('Insects of the first army, on the left'),
    army2: army.describe('Insects of the second army, on the right'),
    seed: whole({ min: 0, max: 2 ** 32 - 1 })
      .default(1)
      .describe('Seed of all random events'),
    output: choice(['json', 'png']).default('json').describe('Numbers, or a picture of the final field'),
  }),
  meter: { packages: ['fast-png', 'fflate', 'iobuffer'] },

  features({ rounds, army1, army2, output }) {
    const insects = army1 + army2
    return {
      rounds,
      insects,
      insectRounds: rounds * insects,
      ...outlookOf(rounds, army1, army2, output === 'png'),
      output,
    }
  },

  run({ rounds, army1, army2, seed, output }, ctx) {
    const war = prepareWar(army1, army2, seed)
    const heroes = new Heroes(war)
    const fight = fighting(war, heroes)
    const casualties = casualtyList(war, rounds)
    const roundsPerProgress = Math.ceil(turnsPerProgress / (army1 + army2))
    while (war.round < rounds && !isOver(war)) {
      fight()
      casualties.round()
      if (war.round % roundsPerProgress === 0) ctx.progress(Math.min(0.99, war.round / rounds))
    }
    const report = reportOf(war, casualties.list, heroes.best())
    const answer = output === 'json' ? report : picture(drawField(war, seed), report)
    ctx.progress(1)
    return answer
  },
})

function picture(png: Uint8Array, { winner, endedBy, rounds, army1, army2 }: Report) {
  const headers = {
    'war-winner': winner,
    'war-ended-by': endedBy,
    'war-rounds': String(rounds),
    'war-survivors': `${army1.survivors},${army2.survivors}`,
    'war-fallen': `${army1.fallen},${army2.fallen}`,
  }
  return reply(png, { contentType: 'image/png', headers })
}
