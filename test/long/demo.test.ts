/** The demo reports no error, and leaves nothing behind. */

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { start } from '../../src/cli/testing/program.ts'

test('the demo loses a worker and no request, and leaves nothing behind', async (t) => {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'plimsoll-demo-test-'))
  t.after(() => rmSync(TMPDIR, { recursive: true }))
  const { ended } = start(['demo', '--seconds', '2', '--json'], { TMPDIR })
  const { code, stdout, stderr } = await ended
  assert.equal(code, 0, stderr)
  const { good, killed, requests, orders } = JSON.parse(stdout)
  const all = requests.at(-1)
  const purchases = requests.find(({ what }: { what: string }) => what === 'purchase')
  assert.equal(good, true)
  assert.equal(all.sent, 32)
  assert.deepEqual([all.answered + all.refused + all.unknown, all.lost, all.wrong], [32, 0, 0])
  assert.equal(orders.placed, purchases.sent - purchases.refused - purchases.unknown + orders.placedUnknown)
  assert.ok(killed.held > 0)
  assert.throws(() => process.kill(killed.pid, 0), /ESRCH/)
  assert.deepEqual(readdirSync(TMPDIR), [])
})
