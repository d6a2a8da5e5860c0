import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { question } from '../../estimate/testing/question.ts'
import type { MetricsRow } from '../../ledger/metrics.ts'
import { memoryLedger } from '../../ledger/testing/memory-ledger.ts'
import { rankMemo } from './rank-memo.ts'
import { type RankStore, rankStore } from './rank-store.ts'

const max = 1_272_110_814
const factorize = (n: string) =>
  question({ n }, { workload: 'factorize', params: { n }, key: `{"n":"${n}"}` })

/** A ledger, and a balancer that can be restarted over the same file. */
function setting(t: TestContext, keys = 100) {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-ranks-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'ranks.jsonl')
  const ledger = memoryLedger()
  let asked = 0
  const lines: string[] = []
  const store = {
    metricsFor(key: Parameters<typeof ledger.metricsFor>[0]) {
      asked++
      return ledger.metricsFor(key)
    },
  }
  const start = () => rankStore({ file, store, keys, log: (line) => lines.push(line) })
  const measured = (n: string, row: Partial<MetricsRow>) =>
    ledger.recordMetrics({
      ...{ workload: 'factorize', codeHash: 'code', parameters: `{"n":"${n}"}`, work: 7, tally: '{}' },
      ...{ running: false, worker: 'w1', attempt: 'j1/1', at: 1, ...row },
    })
  return { file, ledger, start, measured, lines, asked: () => asked }
}

async function rankOf(ranks: RankStore, n: string): Promise<number | undefined> {
  await ranks.look(factorize(n))
  await ranks.settled()
  return rankMemo({ ranks, max }).guess(factorize(n))?.value
}

test('CP-6 a rank is in memory, else in the store, else it is the number itself', async (t) => {
  const { start, measured, asked } = setting(t)
  const ranks = start()
  measured('15', { work: 900 })
  assert.equal(await rankOf(ranks, '983732'), 983_732)
  assert.equal(await rankOf(ranks, '15'), 900)
  assert.equal(asked(), 2)
  assert.equal(await rankOf(ranks, '15'), 900)
  assert.equal(asked(), 2)
  assert.equal(await rankOf(ranks, '983732'), 983_732)
  assert.equal(asked(), 3)
})

test('CP-6 a running request counts as MAX and is not kept, in memory or file', async (t) => {
  const { start, measured, file } = setting(t)
  const ranks = start()
  measured('15', { work: 50, running: true })
  assert.equal(await rankOf(ranks, '15'), max)
  assert.equal(existsSync(file), false)
  measured('15', { work: 900 })
  assert.equal(await rankOf(ranks, '15'), 900)
  assert.equal(await rankOf(start(), '15'), 900)
})

test('CP-6 ranks are kept in a file, which is read into memory at start', async (t) => {
  const { start, measured, file, asked } = setting(t)
  measured('15', { work: 900 })
  measured('21', { work: 1000 })
  const ranks = start()
  assert.equal(await rankOf(ranks, '15'), 900)
  assert.equal(await rankOf(ranks, '21'), 1000)
  const before = asked()
  const again = start()
  assert.equal(await rankOf(again, '15'), 900)
  assert.equal(await rankOf(again, '21'), 1000)
  assert.equal(asked(), before)
  assert.equal(readFileSync(file, 'utf8').trim().split('\n').length, 2)
})

test('CP-6 invalid and incomplete lines are skipped, and the lines after them are kept', async (t) => {
  const { start, measured, file } = setting(t)
  const line = (n: string, rank: unknown) => JSON.stringify({ code: 'code', key: `{"n":"${n}"}`, rank })
  writeFileSync(file, ['nonsense', '7', 'null', line('3', -1), line('4', '5'), line('15', 900)].join('\n'))
  appendFileSync(file, '\n{"code":"code","key":"{')
  measured('21', { work: 1000 })
  const ranks = start()
  assert.equal(await rankOf(ranks, '15'), 900)
  assert.equal(await rankOf(ranks, '3'), 3)
  assert.equal(await rankOf(ranks, '21'), 1000)
  assert.equal(await rankOf(start(), '21'), 1000)
})

test('the file holds at most a few times as many ranks as memory', async (t) => {
  const { start, measured, file } = setting(t, 5)
  const ranks = start()
  for (let n = 10; n < 60; n++) {
    measured(String(n), { work: n * 2 })
    assert.equal(await rankOf(ranks, String(n)), n * 2)
  }
  assert.ok(readFileSync(file, 'utf8').trim().split('\n').length <= 10)
  assert.equal(await rankOf(start(), '59'), 118)
})

test('a ledger that cannot be read has no ranks, and a file that cannot be written is logged once', async (t) => {
  const { start, measured, ledger, lines, file } = setting(t)
  const ranks = start()
  for (const n of ['15', '21']) measured(n, { work: 900 })
  rmSync(join(file, '..'), { recursive: true })
  for (const n of ['15', '21']) assert.equal(await rankOf(ranks, n), 900)
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /ranks cannot be written to .*ranks\.jsonl: ENOENT/)
  await ledger.close()
  assert.equal(await rankOf(ranks, '33'), 33)
  assert.match(lines[1]!, /the ledger has no metrics of factorize/)
})
