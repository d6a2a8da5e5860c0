/** Worlds in virtual time as targets of the fuzzer: their input is a seed, which draws requests and faults. */

import { parseArgs } from 'node:util'
import { chaos } from '../../src/simulate/chaos.ts'
import { type SchedulerName, schedulers } from '../../src/systems/schedulers.ts'
import { reproduce } from '../checks/faults.ts'
import { shrunkFaults } from '../checks/shrunk-faults.ts'
import { drawPlan } from '../virtual/keeper/plan.ts'
import { shrunkLog as shrunkKeepers } from '../virtual/keeper/shrunk-keepers.ts'
import { runPlan } from '../virtual/keeper/world.ts'
import { runSeed } from '../virtual/run-seed.ts'
import { shrunkLog as shrunkProcesses } from '../virtual/shrunk-processes.ts'

interface SeedWorld {
  /** What was violated; undefined: nothing. */
  run(seed: number): Promise<string | undefined>
  /** The command that runs the seed again. */
  command(seed: number): string
  /** The events of a failing seed, with as little as possible of what was drawn. */
  shrink(seed: number): Promise<string[]>
}

const policies = Object.keys(schedulers) as SchedulerName[]

/** Every policy has its turn; in half of the runs brains die, too. */
function clusterOf(seed: number): { policy: SchedulerName; takeOver: boolean } {
  return { policy: policies[seed % policies.length]!, takeOver: Math.floor(seed / policies.length) % 2 === 0 }
}

const worlds: Readonly<Record<string, SeedWorld>> = {
  /** The brain, and models of workers, provider and network. */
  'cluster-world': {
    async run(seed) {
      const { policy, takeOver } = clusterOf(seed)
      try {
        chaos(policy, seed, { takeOver })
        return undefined
      } catch (error) {
        return (error as Error).message
      }
    },
    command: (seed) => reproduce({ seed, ...clusterOf(seed) }),
    shrink(seed) {
      const { policy, takeOver } = clusterOf(seed)
      return shrunkFaults(policy, seed, takeOver)
    },
  },
  /** The code of brain, fronts, workers and supervisor. */
  'process-world': {
    run: async (seed) => (await runSeed(seed)).failures[0],
    command: (seed) => `npm run -s check:processes -- --from ${seed} --seeds 1`,
    shrink: shrunkProcesses,
  },
  /** The code of keepers. */
  'keeper-world': {
    run: async (seed) => (await runPlan(drawPlan(seed))).failures[0],
    command: (seed) => `npm run -s check:kept -- --from ${seed} --seeds 1`,
    shrink: (seed) => shrunkKeepers(drawPlan(seed)),
  },
}

/** The names of worlds that this name stands for; none for other targets. */
export function worldsNamed(name: string): string[] {
  if (name === 'worlds') return Object.keys(worlds)
  return Object.hasOwn(worlds, name) ? [name] : []
}

export interface WorldsRun {
  seeds: number
  failed: number
}

/**
 * Runs seeds of these worlds, one after the other from `seed` on, each world for its part of the time. Prints the first
 * failure of a world with the command that repeats it and with what it was shrunk to.
 */
export async function fuzzWorlds(
  names: readonly string[],
  { seed: first, seconds, seeds: mostSeeds }: { seed: number; seconds?: number; seeds?: number },
  print: (line: string) => void,
): Promise<Record<string, WorldsRun>> {
  const found: Record<string, WorldsRun> = {}
  const endMs = ((seconds ?? Infinity) * 1000) / names.length
  for (const name of names) {
    const world = worlds[name]!
    const result = { seeds: 0, failed: 0 }
    found[name] = result
    const began = performance.now()
    for (let seed = first; result.seeds < (mostSeeds ?? Infinity); seed++) {
      if (result.seeds > 0 && performance.now() - began >= endMs) break
      const why = await world.run(seed)
      result.seeds++
      if (why === undefined) continue
      result.failed++
      print(`${name}: seed ${seed}: ${why}\n  run it again: ${world.command(seed)}`)
      if (result.failed === 1) print((await world.shrink(seed)).join('\n'))
    }
    const perSecond = (result.seeds / (performance.now() - began)) * 1000
    print(
      `${name}: ${result.seeds} seeds from ${first}, ${result.failed} failed, ${perSecond.toFixed(0)} a second`,
    )
  }
  return found
}

/** `npm run -s fuzz -- worlds` and its likes: the code to exit with. */
export async function fuzzWorldsFrom(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { seconds: { type: 'string' }, inputs: { type: 'string' }, seed: { type: 'string' } },
  })
  const [seconds, seeds] = [values.seconds, values.inputs].map((text) =>
    text === undefined ? undefined : Number(text),
  )
  const seed = values.seed === undefined ? 1 + (Date.now() % 2 ** 31) : Number(values.seed)
  if (![seconds ?? 1, seeds ?? 1, seed].every((number) => number > 0) || !Number.isInteger(seed))
    throw new Error('--seconds, --inputs and --seed must be above 0, and the seed an integer')
  const limits = {
    ...(seconds !== undefined && { seconds }),
    ...(seeds !== undefined && { seeds }),
    ...(seconds === undefined && seeds === undefined && { seeds: 100 }),
  }
  const found = await fuzzWorlds(worldsNamed(positionals[0]!), { seed, ...limits }, (line) =>
    console.log(line),
  )
  console.log(JSON.stringify({ seed, ...found }))
  return Object.values(found).some(({ failed }) => failed > 0) ? 1 : 0
}
