/** The server and the configuration of docs/start/existing-server.md, as a reader would save them. */

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { hasPython } from '../../src/worker/program/testing/use-programs.ts'
import { stopLive } from '../support/live.ts'
import { startOwn } from '../support/own-programs.ts'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/start/existing-server.md'), 'utf8')

function block(language: string): string {
  const [, code] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(page) ?? []
  assert.ok(code !== undefined, `the page has a block of ${language}`)
  return code
}

const skip = hasPython ? false : 'python3 is not installed'

test('the server of the tutorial answers behind its configuration', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-tutorial-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules', 'plimsoll'))
  writeFileSync(join(folder, 'app.py'), block('python'))
  const config = join(folder, 'plimsoll.config.mts')
  writeFileSync(config, block('ts'))
  const live = await startOwn(config)
  t.after(() => stopLive(live))
  const answer = await fetch(`${live.url}/primes?below=100000`)
  assert.deepEqual(await answer.json(), { below: 100_000, primes: 9592 })
  assert.ok(Number(answer.headers.get('plimsoll-work')) > 0)
  assert.equal((await fetch(`${live.url}/nothing`)).status, 404)
  const quote = (await (await fetch(`${live.url}/-/estimate/primes?below=100000`)).json()) as object
  assert.equal('seconds' in quote, true)
})
