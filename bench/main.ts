/** `npm run -s bench -- NAME [--quick] [--report FILE]`: prints tables, and a JSON object with the figures as the last line. */

import { parseArgs } from 'node:util'
import { brain } from './brain.ts'
import { chaos } from './chaos.ts'
import { cold } from './cold.ts'
import { crowd } from './crowd.ts'
import { direct } from './direct.ts'
import { door, systemsNamed } from './door.ts'
import { estimate } from './estimate.ts'
import { eta } from './eta.ts'
import { fair } from './fair.ts'
import { jobs, storesNamed } from './jobs.ts'
import { ledger } from './ledger.ts'
import { live } from './live.ts'
import { meter } from './meter.ts'
import type { BenchOptions } from './options.ts'
import { overflow } from './overflow.ts'
import { isPartOfOwn, own } from './own.ts'
import { scale } from './scale.ts'
import { schedule } from './schedule.ts'
import { slots } from './slots.ts'
import { startup } from './startup.ts'
import { tools } from './tools.ts'

const benches: Readonly<Record<string, (options: BenchOptions) => Promise<Record<string, unknown>>>> = {
  brain,
  chaos,
  cold,
  crowd,
  direct,
  door,
  estimate,
  eta,
  fair,
  jobs,
  ledger,
  live,
  meter,
  overflow,
  own,
  scale,
  schedule,
  slots,
  startup,
  tools,
}

const usage = `usage: npm run -s bench -- NAME [--quick] [--report FILE]
       cold also takes --busy, --load PART, --runs SECONDS,… (at least 10), --seconds N, and --simulate; own takes --only estimates or --only path
       chaos takes --seed N
       door takes --rounds N, --seconds N, --only NAME,…, --after SECONDS, --profile FOLDER
       jobs takes --rounds N, --seconds N, --callers N, --only NAME,…
benchmarks: ${Object.keys(benches).join(', ')}`

/** Options that not every benchmark takes. */
const taken: Readonly<Record<string, readonly string[]>> = {
  chaos: ['seed'],
  cold: ['busy', 'seconds', 'load', 'runs', 'simulate'],
  jobs: ['seconds', 'only', 'rounds', 'callers'],
  own: ['only'],
  door: ['seconds', 'only', 'rounds', 'after', 'profile'],
}

function parse(): { name: string; options: BenchOptions } | undefined {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        report: { type: 'string' },
        busy: { type: 'boolean' },
        seed: { type: 'string' },
        seconds: { type: 'string' },
        load: { type: 'string' },
        runs: { type: 'string' },
        simulate: { type: 'boolean' },
        only: { type: 'string' },
        rounds: { type: 'string' },
        callers: { type: 'string' },
        after: { type: 'string' },
        profile: { type: 'string' },
      },
    })
    const [name] = positionals
    if (name === undefined || positionals.length > 1 || !Object.hasOwn(benches, name)) return undefined
    const { quick, seed, seconds, rounds, callers, after, load, runs, ...others } = values
    const known = ['quick', 'report', ...(taken[name] ?? [])]
    if (Object.keys(values).some((option) => !known.includes(option))) return undefined
    const numbers = Object.entries({ seed, seconds, rounds, callers, after }).filter(
      ([, text]) => text !== undefined,
    )
    const least = name === 'cold' ? 10 : 1
    if (!numbers.every(([, text]) => Number.isInteger(Number(text)) && Number(text) >= least))
      return undefined
    if (others.only !== undefined && !isOnly(name, others.only)) return undefined
    if (load !== undefined && !(Number(load) > 0 && Number(load) < 1)) return undefined
    const lengths = runs?.split(',').map(Number)
    if (lengths && !lengths.every((length) => Number.isInteger(length) && length >= least)) return undefined
    const parsed = Object.fromEntries(numbers.map(([option, text]) => [option, Number(text)]))
    return {
      name,
      options: {
        ...{ quick, ...others, ...parsed },
        ...(load !== undefined && { load: Number(load) }),
        ...(lengths && { runs: lengths }),
      },
    }
  } catch {
    return undefined
  }
}

function isOnly(name: string, only: string): boolean {
  if (name === 'jobs') return storesNamed(only) !== undefined
  return name === 'door' ? systemsNamed(only) !== undefined : isPartOfOwn(only)
}

const bench = parse()
if (!bench) {
  console.error(usage)
  process.exitCode = 2
} else {
  console.log(JSON.stringify(await benches[bench.name]!(bench.options)))
}
