/** Rolls of fronts that are interrupted by the death of a process. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { until } from '../support/live.ts'
import { startUp, type Up, untilState } from '../support/up.ts'

const kill = (pid: number) => process.kill(pid, 'SIGKILL')
const get = ({ url }: Up, path: string) => fetch(`${url}${path}`, { headers: { connection: 'close' } })
const idle = { timeout: 120_000 }

/** Kills a process at a moment of a roll, and checks what is left when all has settled. */
async function killDuringRoll(t: TestContext, victim: (up: Up) => Promise<number>): Promise<void> {
  const up = await startUp(t, '--fronts', '2')
  const rolled = up.roll().catch(() => {})
  kill(await victim(up))
  await rolled
  const isSettled = ({ fronts }: Awaited<ReturnType<Up['state']>>) =>
    fronts.filter(({ state }) => state === 'ready').length === 2 && fronts.length === 2
  await untilState(up, isSettled, 'two fronts are ready')
  await until(() => up.fronts().length === 2, 'no other front is left')
  // A further one works, and replaces both.
  const before = up.fronts()
  const steps = await up.roll()
  assert.deepEqual(steps.at(-1), { done: true })
  await until(() => up.fronts().length === 2, 'the old ones have left')
  assert.ok(!up.fronts().some((pid) => before.includes(pid)))
  assert.equal(await (await get(up, '/strict?n=3')).text(), '6')
}

/** Resolves with the newest front when this many run. */
async function newest(up: Up, count: number): Promise<number> {
  await until(() => up.fronts().length === count, `${count} fronts run`)
  return up.fronts().at(-1)!
}

const victims: Readonly<Record<string, (up: Up) => Promise<number>>> = {
  'the old front, before its successor starts': async (up) => up.fronts()[0]!,
  'the old front, while its successor starts': async (up) => {
    await newest(up, 3)
    return up.fronts()[0]!
  },
  'the successor, while it starts': (up) => newest(up, 3),
  'the brain, while a successor starts': async (up) => {
    await newest(up, 3)
    return up.brain()
  },
  'the brain, as the roll begins': async (up) => up.brain(),
}

for (const [what, victim] of Object.entries(victims)) {
  test(`the wanted fronts are left when a roll is interrupted by the death of ${what}`, idle, (t) =>
    killDuringRoll(t, victim),
  )
}
