/** The events of a failing seed of processes, with as few requests and faults as possible. */

import { runSeed } from './run-seed.ts'
import { kindOf, leastOf } from './shrink.ts'

export async function shrunkLog(seed: number): Promise<string[]> {
  const whole = await runSeed(seed)
  const kind = kindOf(whole.failures[0])
  const leftOut = await leastOf(whole.planned, async (each) => {
    const { failures } = await runSeed(seed, { leftOut: each })
    return failures.length > 0 && kindOf(failures[0]) === kind
  })
  const lines: string[] = []
  const { failures } = await runSeed(seed, { leftOut, lines })
  const kept = whole.planned - leftOut.size
  return [
    '',
    `seed ${seed}, shrunk to ${kept} of ${whole.planned} requests and faults:`,
    ...lines,
    ...failures,
  ]
}
