/** `npm run -s bench -- NAME [--quick]`: prints a table and, as its last line, one JSON object with the figures. */

import { brain } from './brain.ts'
import { ledger } from './ledger.ts'
import { meter } from './meter.ts'
import { slots } from './slots.ts'

const benches: Readonly<Record<string, (quick: boolean) => Promise<Record<string, unknown>>>> = {
  brain,
  ledger,
  meter,
  slots,
}

const [name = '', ...flags] = process.argv.slice(2)
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined
const unknown = flags.find((flag) => flag !== '--quick')
if (!bench || unknown !== undefined) {
  console.error(`usage: npm run -s bench -- NAME [--quick]; there are: ${Object.keys(benches).join(', ')}`)
  process.exitCode = 2
} else {
  console.log(JSON.stringify(await bench(flags.includes('--quick'))))
}
