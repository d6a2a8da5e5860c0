/**
 * Counts how many of the first seeds of processes and keepers in virtual time find each bug that is planted again:
 * `npm run -s check:planted-seeds -- --seeds 200 [--only TEXT]`. Fails if none finds a bug.
 */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { allBugs } from '../support/planted/all.ts'
import { Copy, seedRuns } from '../support/planted/plant.ts'

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '200' }, only: { type: 'string', default: '' } },
})
const { seeds, only } = values
if (!(Number(seeds) >= 1)) throw new Error(`--seeds ${seeds}: must be at least 1`)

const copy = new Copy()
let missed = 0
/** Runs that were green without a planted bug. */
const green = new Set<string>()
try {
  for (const [topic, list] of Object.entries(allBugs)) {
    for (const bug of list) {
      const name = `${topic}: ${bug.what}`
      const main = seedRuns[bug.file]
      if (main === undefined || !name.includes(only)) continue
      if (!green.has(main) && (await failures(join(copy.folder, main), 'without a planted bug')) > 0)
        throw new Error(`${main}: seeds fail without a planted bug`)
      green.add(main)
      const failed = await copy.with(bug, (folder) => failures(join(folder, main), name))
      if (failed === 0) missed++
      console.log(`${String(failed).padStart(4)} of ${seeds}  ${name}`)
    }
  }
} finally {
  copy.remove()
}
if (missed > 0) process.exitCode = 1

/** The number of seeds that fail. */
async function failures(main: string, name: string): Promise<number> {
  const output = await runSeeds(main)
  const [, failed] = /"failed":(\d+)\}\s*$/.exec(output) ?? []
  if (failed === undefined) throw new Error(`${name}: the run did not end\n${output.slice(-2000)}`)
  return Number(failed)
}

function runSeeds(main: string): Promise<string> {
  const args = [main, '--seeds', seeds, '--quiet']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  return text(child.stdout)
}
