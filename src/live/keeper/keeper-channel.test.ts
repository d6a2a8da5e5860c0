import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ToKeeper } from './messages.ts'

const cli = join(import.meta.dirname, '..', '..', 'cli', 'plimsoll.js')

test('a keeper that cannot open its store ends, so that another one can be started', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-keeper-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const store = join(folder, 'jobs')
  writeFileSync(store, 'not a folder')
  const keeper = fork(cli, ['keeper'], { silent: true })
  t.after(() => keeper.kill('SIGKILL'))
  let said = ''
  keeper.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const begin: ToKeeper = {
    type: 'begin',
    token: 'token',
    settings: {
      ...{ store, standby: false, keepMs: 1_000, keepBytes: 1_000, most: 1 },
      ...{ limits: { jobs: 1, bytes: 1_000, clientShare: 1 }, processMb: 0 },
      ended: { jobs: 1, bytes: 1_000 },
      admin: { url: 'http://127.0.0.1:1', token: 'token' },
      webhooks: { hosts: [], secretFile: join(folder, 'secret') },
    },
  }
  keeper.send(begin)
  const [code, signal] = (await once(keeper, 'close')) as [number | null, string | null]
  assert.deepEqual([code !== 0, signal], [true, null])
  assert.match(said, /job store/)
})
