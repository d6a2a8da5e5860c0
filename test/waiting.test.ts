/** Jobs that wait for input or output hold no core: others run meanwhile. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { open, until, untilIdle, useLive } from './support/live.ts'

const files = [join(import.meta.dirname, 'fixtures', 'waits.ts')]
// Without detection of waiting jobs, one job would run on each core; under `srpt`, up to four unproven ones share it.
const fifo = { scheduler: 'least-connections', discipline: 'fifo' } as const
const live = useLive({ files, min: 2, max: 2, slots: 4, ...fifo })
const one = useLive({ files, slots: 4, ...fifo })

test('six jobs that wait all run at once on two workers of one core', async () => {
  const ids = ['1', '2', '3', '4', '5', '6']
  const asked = ids.map((id) => fetch(`${live.url}/waits?id=${id}&gate=six`))
  const begun = () => ids.every((id) => existsSync(join(live.dataDir, `begun-${id}`)))
  await until(begun, 'all six have begun')
  assert.equal(live.state().placed, 6)
  open(live, 'six')
  for (const [at, answer] of asked.entries()) assert.equal(await (await answer).text(), ids[at])
  await untilIdle(live)
})

test('a job that computes again after it waited takes a core again', async () => {
  const jobs = () => one.state().workers[0]!.jobs
  const stop = new AbortController()
  const asked = ['a', 'b'].map((id) =>
    fetch(`${one.url}/waits?id=${id}&gate=go&forever=yes`, { signal: stop.signal }).catch(() => {}),
  )
  await until(() => existsSync(join(one.dataDir, 'begun-b')), 'both wait')
  assert.deepEqual(
    jobs().map(({ running }) => running),
    [true, true],
  )
  open(one, 'go')
  await until(() => jobs().filter(({ running }) => running).length === 1, 'one of them is paused')
  stop.abort()
  await Promise.all(asked)
  await untilIdle(one)
})
