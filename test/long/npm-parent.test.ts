/** A cluster that npm started, and what happens to it when npm is ended alone. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { until } from '../support/live.ts'
import { descendants, isAlive } from '../support/processes.ts'

const root = join(import.meta.dirname, '..', '..')

for (const signal of ['SIGTERM', 'SIGHUP', 'SIGKILL'] as const)
  test(`a cluster that npm started stops when npm gets ${signal}`, { timeout: 120_000 }, async (t) => {
    const data = mkdtempSync(join(tmpdir(), 'plimsoll-npm-'))
    t.after(() => rmSync(data, { recursive: true, force: true }))
    const options = ['--port', '0', '--admin-port', '0', '--data', data]
    const npm = spawn('npm', ['run', '-s', 'plimsoll', '--', 'up', ...options], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => npm.kill('SIGKILL'))
    const lines: string[] = []
    for (const output of [npm.stdout, npm.stderr])
      createInterface({ input: output }).on('line', (line) => lines.push(line))
    await until(() => lines.some((line) => line.includes('is ready')), 'the cluster is ready')
    const started = descendants(npm.pid!).map(({ pid }) => pid)
    assert.ok(started.length > 3, `${started.length} processes`)
    npm.kill(signal)
    await once(npm, 'exit')
    await until(() => !started.some(isAlive), 'all processes have ended')
    assert.ok(lines.some((line) => line.startsWith('Stopping')))
  })
