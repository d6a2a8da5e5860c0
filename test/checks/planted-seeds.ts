/**
 * Counts how many of the first seeds of processes in virtual time find each bug that is planted again:
 * `npm run -s check:planted-seeds -- --seeds 200 [--only TEXT]`. Fails if none finds a bug.
 */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { Copy, seeds as seedsTest } from '../support/planted/plant.ts'
import { processBugs } from '../support/planted/process-bugs.ts'
import { requestBugs } from '../support/planted/request-bugs.ts'
import { seedBugs } from '../support/planted/seed-bugs.ts'

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '200' }, only: { type: 'string', default: '' } },
})
const { seeds, only } = values
if (!(Number(seeds) >= 1)) throw new Error(`--seeds ${seeds}: must be at least 1`)

const copy = new Copy()
let missed = 0
try {
  for (const [topic, list] of Object.entries({ ...processBugs, ...requestBugs, ...seedBugs })) {
    for (const bug of list) {
      const name = `${topic}: ${bug.what}`
      if (bug.file !== seedsTest[0] || !name.includes(only)) continue
      const output = await copy.with(bug, runSeeds)
      const [, failed] = /"failed":(\d+)\}\s*$/.exec(output) ?? []
      if (failed === undefined) throw new Error(`${name}: the run did not end\n${output.slice(-2000)}`)
      if (failed === '0') missed++
      console.log(`${failed.padStart(4)} of ${seeds}  ${name}`)
    }
  }
} finally {
  copy.remove()
}
if (missed > 0) process.exitCode = 1

function runSeeds(folder: string): Promise<string> {
  const args = [join(folder, 'test/virtual/main.ts'), '--seeds', seeds]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  return text(child.stdout)
}
