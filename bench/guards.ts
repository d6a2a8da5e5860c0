/**
 * `npm run -s check:speed`: fails when a recorded speed has fallen by more than a third.
 *
 * A guard measures a ratio to something in the same process that our code does not change, in virtual time or CPU time,
 * so that it holds on other and on busy machines. Each guard runs in a process of its own. To add one, add it to the list
 * with the ratio that it prints; after a change that is worth its cost, record the new ratio.
 */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decisionsVsBareLoop } from './brain.ts'
import { Pair } from './meter/pair.ts'
import { simulatorSpeed } from './simulator.ts'

interface Guard {
  measure(): number | Promise<number>
  recorded: number
}

const guards: Readonly<Record<string, Guard>> = {
  sim_vs_bare_loop: { measure: () => simulatorSpeed({ quick: true }).vsBareLoop, recorded: 0.14 },
  decisions_vs_bare_loop: { measure: decisionsVsBareLoop, recorded: 1.1 },
  unmetered_vs_metered: { measure: unmeteredVsMetered, recorded: 0.93 },
}

/** The part of the recorded ratio that must be reached, in one of several tries: a busy machine only slows down. */
const [least, tries] = [2 / 3, 3]

const [measured] = process.argv.slice(2)
if (measured !== undefined) console.log(await guards[measured]!.measure())
else process.exitCode = Object.entries(guards).map(holds).every(Boolean) ? 0 : 1

function holds([name, { recorded }]: [string, Guard]): boolean {
  let best = 0
  for (let i = 0; i < tries && best < recorded * least; i++) best = Math.max(best, measureAlone(name))
  const isHeld = best >= recorded * least
  const percent = Math.round((best / recorded) * 100)
  const words = `${name} = ${best.toFixed(3)}, ${percent} % of the recorded ${recorded}`
  if (isHeld) console.log(words)
  else console.error(`${words}: must be at least ${Math.round(least * 100)} %`)
  return isHeld
}

function measureAlone(name: string): number {
  return Number(execFileSync(process.execPath, [import.meta.filename, name], { encoding: 'utf8' }))
}

/** CPU time of a workload without the meter, as a part of that with it. */
async function unmeteredVsMetered(): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
  try {
    const pair = await Pair.start('julia', { dataDir, quick: true, exactAtOnce: true })
    await pair.warmUp()
    for (let round = 0; round < 3; round++) await pair.round(round)
    await pair.end()
    return 1 / pair.figures().overhead
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
