import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSqliteLedger } from '../ledger/sqlite.ts'
import { start } from './testing/program.ts'

function folder(t: { after(end: () => void): void }): string {
  const dir = mkdtempSync(join(tmpdir(), 'plimsoll-learn-test-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

async function rowsIn(dataDir: string, workload: string) {
  const ledger = await openSqliteLedger({ file: join(dataDir, 'ledger.db') })
  try {
    return await ledger.recent({ workload, limit: 100 })
  } finally {
    await ledger.close()
  }
}

const logged = (request: string, status: number, seconds: string) =>
  `198.51.100.4 - - [18/Nov/2025:09:03:58 +0000] "${request} HTTP/1.1" ${status} 99 "-" "curl/8" ${seconds}`

test('learn seeds the ledger from an access log, and from the ledger of another cluster', async (t) => {
  const [dir, other] = [folder(t), folder(t)]
  const log = join(dir, 'access.log')
  const lines = [
    logged('GET /factorize?n=999985999949', 200, '0.050'),
    logged('GET /factorize?n=91', 200, '0.002'),
    logged('GET /factorize?n=91', 200, '0.002'),
    logged('GET /factorize?n=91', 500, '0.002'),
    logged('GET /factorize?n=many', 200, '0.002'),
    logged('GET /elsewhere', 200, '0.002'),
    'not a log line',
  ]
  writeFileSync(log, `${lines.join('\n')}\n`)
  const run = async (...args: string[]) => await start(['learn', ...args]).ended
  const first = await run('--from', log, '--data', dir)
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /Learned from 3 of 7 lines/)
  assert.match(first.stderr, /Skipped 1 lines of failed requests/)
  assert.match(first.stderr, /Skipped 1 lines of paths that are not served; served are .*factorize/)
  assert.match(first.stderr, /Skipped 1 lines of requests that would be rejected/)
  assert.match(first.stderr, /the first is line 7: it is not in the combined log format/)
  // The same log again adds nothing.
  await run('--from', log, '--data', dir)
  const rows = await rowsIn(dir, 'factorize')
  assert.deepEqual(rows.map(({ wallMs }) => wallMs).sort(), [2, 2, 50])
  assert.ok(rows.every(({ work, measure, features }) => work > 0 && measure === 'meter' && features !== ''))

  const second = await run('--from', join(dir, 'ledger.db'), '--data', other)
  assert.equal(second.code, 0, second.stderr)
  assert.match(second.stdout, /Learned 3 measurements and 0 models/)
  assert.deepEqual(
    (await rowsIn(other, 'factorize')).map(({ worker }) => worker),
    Array(3).fill('elsewhere/access-log'),
  )
})

test('learn says what is missing or wrong', async (t) => {
  const dir = folder(t)
  const empty = join(dir, 'empty.log')
  writeFileSync(empty, '')
  const run = async (...args: string[]) => await start(['learn', '--data', dir, ...args]).ended
  const [none, missing, unit, nothing] = await Promise.all([
    run(),
    run('--from', join(dir, 'absent.log')),
    run('--from', empty, '--unit', 'min'),
    run('--from', empty),
  ])
  assert.match(none.stderr, /--from: required/)
  assert.match(missing.stderr, /--from = .*absent\.log: must be a file that exists/)
  assert.match(unit.stderr, /--unit.*min/)
  assert.deepEqual([none.code, missing.code, unit.code, nothing.code], [2, 2, 2, 1])
})
