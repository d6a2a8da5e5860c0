/** What workloads and programs of a cluster see of the operator's environment. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { startLive, stopLive } from './support/live.ts'
import { ownOf } from './support/own-programs.ts'

const worker = join(import.meta.dirname, '..', 'src', 'worker')
const secrets = { PLIMSOLL_TOKEN: 'secret', STRIPE_KEY: 'secret', DATABASE_URL: 'secret' }
const passEnv = ['DATABASE_URL']

function useSecrets(t: TestContext): void {
  Object.assign(process.env, secrets)
  t.after(() => {
    for (const name of Object.keys(secrets)) delete process.env[name]
  })
}

const seen = async (url: string) =>
  ((await (await fetch(url)).json()) as string[]).filter((name) => name in secrets)

test('workloads see only variables that were passed on', async (t) => {
  useSecrets(t)
  const files = [join(worker, 'slots', 'fixtures', 'changes.ts')]
  const live = await startLive({ files, passEnv })
  t.after(() => stopLive(live))
  assert.deepEqual(await seen(`${live.url}/environment`), passEnv)
})

test('programs see only variables that were passed on', async (t) => {
  useSecrets(t)
  const command = [process.execPath, join(worker, 'program', 'fixtures', 'server.mjs'), '--port', '{port}']
  const own = await ownOf(t, { workers: { command } }, { passEnv })
  assert.deepEqual(await seen(`${own.url}/env`), passEnv)
})
