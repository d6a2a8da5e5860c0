/** `npm run -s bench -- NAME [--quick] [--report FILE]`: prints a table and, as its last line, one JSON object with the figures. */

import { parseArgs } from 'node:util'
import { brain } from './brain.ts'
import { estimate } from './estimate.ts'
import { fair } from './fair.ts'
import { ledger } from './ledger.ts'
import { live } from './live.ts'
import { meter } from './meter.ts'
import type { BenchOptions } from './options.ts'
import { overflow } from './overflow.ts'
import { own } from './own.ts'
import { scale } from './scale.ts'
import { schedule } from './schedule.ts'
import { slots } from './slots.ts'

const benches: Readonly<Record<string, (options: BenchOptions) => Promise<Record<string, unknown>>>> = {
  brain,
  estimate,
  fair,
  ledger,
  live,
  meter,
  overflow,
  own,
  scale,
  schedule,
  slots,
}

const usage = `usage: npm run -s bench -- NAME [--quick] [--report FILE]; benchmarks: ${Object.keys(benches).join(', ')}`

function asked(): { name: string; options: BenchOptions } | undefined {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: { quick: { type: 'boolean', default: false }, report: { type: 'string' } },
    })
    const [name] = positionals
    if (name === undefined || positionals.length > 1 || !Object.hasOwn(benches, name)) return undefined
    const { quick, report } = values
    return { name, options: { quick, ...(report !== undefined && { report }) } }
  } catch {
    return undefined
  }
}

const bench = asked()
if (!bench) {
  console.error(usage)
  process.exitCode = 2
} else {
  console.log(JSON.stringify(await benches[bench.name]!(bench.options)))
}
