/** `npm run -s bench -- NAME [--quick] [--report FILE]`: prints tables, and a JSON object with the figures as the last line. */

import { parseArgs } from 'node:util'
import { brain } from './brain.ts'
import { cold } from './cold.ts'
import { direct } from './direct.ts'
import { estimate } from './estimate.ts'
import { fair } from './fair.ts'
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

const benches: Readonly<Record<string, (options: BenchOptions) => Promise<Record<string, unknown>>>> = {
  brain,
  cold,
  direct,
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
  startup,
}

const usage = `usage: npm run -s bench -- NAME [--quick] [--report FILE]\n       cold also takes --busy, and --seconds N (at least 10); own takes --only estimates or --only path\nbenchmarks: ${Object.keys(benches).join(', ')}`

function parse(): { name: string; options: BenchOptions } | undefined {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        report: { type: 'string' },
        busy: { type: 'boolean' },
        seconds: { type: 'string' },
        only: { type: 'string' },
      },
    })
    const [name] = positionals
    if (name === undefined || positionals.length > 1 || !Object.hasOwn(benches, name)) return undefined
    const { quick, report, busy, seconds, only } = values
    if ((busy || seconds !== undefined) && name !== 'cold') return undefined
    if (seconds !== undefined && !(Number(seconds) >= 10)) return undefined
    if (only !== undefined && (name !== 'own' || !isPartOfOwn(only))) return undefined
    const ofCold = { ...(busy && { busy }), ...(seconds !== undefined && { seconds: Number(seconds) }) }
    return {
      name,
      options: { quick, ...(report !== undefined && { report }), ...ofCold, ...(only && { only }) },
    }
  } catch {
    return undefined
  }
}

const bench = parse()
if (!bench) {
  console.error(usage)
  process.exitCode = 2
} else {
  console.log(JSON.stringify(await benches[bench.name]!(bench.options)))
}
