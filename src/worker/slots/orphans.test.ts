import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { stateOf, until } from './testing/use-pool.ts'

async function killParent(t: TestContext, env: NodeJS.ProcessEnv): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-orphans-'))
  const parent = spawn(process.execPath, [join(import.meta.dirname, 'testing/parent.ts'), dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  t.after(() => {
    parent.kill('SIGKILL')
    rmSync(dataDir, { recursive: true, force: true })
  })
  const [line] = await Promise.race([once(parent.stdout, 'data'), once(parent, 'exit')])
  const { pids, stopped } = JSON.parse(String(line)) as { pids: number[]; stopped: number[] }
  assert.ok(pids.length >= 9, 'a watchdog, five slots with jobs, an idle slot, and two children of jobs')
  for (const pid of pids) assert.notEqual(stateOf(pid), undefined)
  for (const pid of stopped) assert.equal(stateOf(pid), 'T')
  parent.kill('SIGKILL')
  await until(() => pids.every((pid) => stateOf(pid) === undefined), 'no process is left')
}

test('no slot outlives a killed worker: running, idle or stopped', (t) => killParent(t, {}))

test('no slot outlives a killed worker without death signals', (t) =>
  killParent(t, { PATH: '/nowhere:/bin/none' }))
