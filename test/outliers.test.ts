/** A worker that fails every attempt at once is ejected, with the limits of the default preset. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { partsOf } from '../src/cli/cluster/preset.ts'
import { presetOf } from '../src/systems/presets.ts'
import { fail } from './support/fake-worker.ts'
import { patient } from './support/live.ts'
import { useOwn } from './support/own-live.ts'

const hourMs = 3_600_000
const { limits } = partsOf(presetOf('plimsoll'))
const own = useOwn(
  (_, response) => response.end('good'),
  {},
  // Longer ejections, so that none ends before the test, even on a slow machine.
  {
    limits: { ...patient, crashes: 100, outliers: { ...limits!.outliers!, baseMs: hourMs, mostMs: hourMs } },
  },
)

test('all requests are answered, and after five failures the worker gets no more', async () => {
  const bad = await own.join('bad')
  bad.instead = ({ response }) => fail(response, 'crash', 'broken')
  for (let i = 0; i < 40; i++) {
    // Requests at the same time, so that both workers get some.
    const answers = await Promise.all([1, 2, 3].map(() => fetch(`${own.url}/`)))
    for (const answer of answers) assert.equal(await answer.text(), 'good')
  }
  const view = own.state().workers.find(({ id }) => id === 'bad')
  assert.equal(view?.notice?.code, 'failing')
  // Attempts that were under way at the time may have failed as well.
  assert.ok(bad.attempts.length >= 5 && bad.attempts.length <= 8, `${bad.attempts.length} attempts`)
  assert.match(
    own.lines.join('\n'),
    /^fleet: worker bad is ejected for 60 min: \d attempts in a row failed there, and their jobs were finished elsewhere$/m,
  )
  const step = own.state().steps.find(({ change }) => change === 'ejected')
  assert.match(step?.text ?? '', /^bad ejected for 60 min: /)
})
