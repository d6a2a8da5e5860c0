/** The process of the brain is stopped for longer than workers may be silent. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { ClusterState } from '../../src/live/cluster.ts'
// Its temporary folder is used by the cluster, too.
import '../support/live.ts'

/** Longer than the five seconds of silence after which a worker is lost. */
const stoppedMs = 6000

test('a brain that was stopped for longer than workers may be silent loses none of them', async (t) => {
  const file = join(import.meta.dirname, '..', 'support', 'cluster-process.ts')
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(async () => {
    child.kill('SIGCONT')
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const { url, adminUrl } = JSON.parse(line) as { url: string; adminUrl: string }
  const state = async () => (await (await fetch(`${adminUrl}/api/state`)).json()) as ClusterState
  const workers = async () => {
    const all = (await state()).workers
    return all.length === 2 && all.every(({ fresh }) => !fresh) ? all.map(({ pid }) => pid) : undefined
  }
  let before = await workers()
  while (!before) {
    await delay(20)
    before = await workers()
  }
  child.kill('SIGSTOP')
  await delay(stoppedMs)
  child.kill('SIGCONT')
  for (let i = 0; i < 5; i++) assert.equal(await (await fetch(`${url}/strict?n=21`)).text(), '42')
  const { steps, workers: after, counters } = await state()
  assert.deepEqual(
    after.map(({ pid }) => pid),
    before,
  )
  assert.deepEqual(
    steps.filter(({ change }) => change === 'lost' || change === 'held'),
    [],
  )
  assert.equal(counters.retries, 0)
})
