/** What was learned about an existing server survives a restart, in the units of measurement. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { checkConfig } from '../src/config/check.ts'
import { serverCode } from '../src/config/code.ts'
import type { QuoteDocument } from '../src/estimate/quote.ts'
import { joinFake } from './support/fake-worker.ts'
import { startLive } from './support/live.ts'

test('a restarted cluster quotes in the program’s units', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-live-'))
  const program = createServer((_, response) => response.end('done')).listen(0, '127.0.0.1')
  t.after(() => {
    program.close()
    program.closeAllConnections()
    rmSync(dataDir, { recursive: true })
  })
  await new Promise((resolve) => program.once('listening', resolve))
  const { port } = program.address() as AddressInfo
  const own = checkConfig({ workers: { command: 'program {port}' } }, dataDir).own!
  const start = () => startLive({ files: [], own, min: 0, max: 1, dataDir }, false)
  const quote = async (url: string) => (await (await fetch(`${url}/-/estimate/x`)).json()) as QuoteDocument

  const first = await start()
  const fake = await joinFake(first, { port, code: serverCode(own.workers!) })
  fake.cost = { measure: 'header', work: 50, cpuMs: 20, wallMs: 30 }
  await first.ready
  assert.equal((await quote(first.url)).source, 'prior')
  await (await fetch(`${first.url}/x`)).text()
  const told = await quote(first.url)
  await first.stop(0)
  await fake.close()

  const second = await start()
  t.after(() => second.stop(0))
  const { source, work, seconds } = await quote(second.url)
  assert.deepEqual([source, work, seconds.expected], ['memo', 50, 0.02])
  assert.deepEqual([told.source, told.work, told.seconds.expected], ['memo', 50, 0.02])
})
