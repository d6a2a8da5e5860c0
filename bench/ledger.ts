/**
 * A ledger of a million rows, as if it had never been pruned: the time until nine workloads are warm, the latency of
 * writes and reads while it is pruned in the background, and the duration of pruning.
 */

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { table } from '../src/cli/terminal/table.ts'
import type { Ledger, LedgerRow } from '../src/ledger/ledger.ts'
import { openSqliteLedger } from '../src/ledger/sqlite.ts'
import { stream } from '../src/lib/random.ts'
import { median } from '../src/simulate/summary.ts'
import type { BenchOptions } from './options.ts'

const workloads = Array.from({ length: 9 }, (_, number) => `workload-${number}`)

export async function ledger({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-ledger-'))
  try {
    return await measure(join(folder, 'ledger.db'), quick ? 100_000 : 1_000_000)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(file: string, rows: number): Promise<Record<string, unknown>> {
  await (await openSqliteLedger({ file })).close()
  fill(file, rows)
  const fileMb = statSync(file).size / 2 ** 20

  const start = performance.now()
  const opened = await openSqliteLedger({ file, onError: (error) => console.error(error.message) })
  const openMs = performance.now() - start
  const warm = await Promise.all(workloads.map((workload) => opened.warm({ workload })))
  const warmRows = warm.flat().length
  const totalMs = performance.now() - start

  const during = await useWhilePruned(opened)
  await opened.close()
  const { writeMs, readMs, recordUs, seconds, left } = during
  const worst = (values: number[]) => Math.max(...values)
  const line = (name: string, values: number[]) => [name, median(values).toFixed(1), worst(values).toFixed(1)]
  console.log(`${rows} rows, ${fileMb.toFixed(0)} MB: open ${openMs.toFixed(0)} ms, then ${warmRows} rows of`)
  console.log(
    `${workloads.length} workloads: ${totalMs.toFixed(0)} ms in all. Pruned after ${seconds.toFixed(0)} s`,
  )
  console.log(`(${left} rows). During that time:\n`)
  const lines = [
    line('record, µs', recordUs),
    line('record and flush, ms', writeMs),
    line('recent, ms', readMs),
  ]
  console.log(table(['', 'median', 'worst'], lines))
  return {
    rows,
    open_ms: Math.round(openMs),
    open_and_warm_ms: Math.round(totalMs),
    warm_rows: warmRows,
    write_ms_p50: Number(median(writeMs).toFixed(1)),
    write_ms_max: Number(worst(writeMs).toFixed(1)),
    read_ms_p50: Number(median(readMs).toFixed(1)),
    read_ms_max: Number(worst(readMs).toFixed(1)),
    small_after_s: Math.round(seconds),
    rows_left: left,
  }
}

/** Writes and reads until the ledger stops shrinking. */
async function useWhilePruned(opened: Ledger) {
  const writeMs: number[] = []
  const readMs: number[] = []
  const recordUs: number[] = []
  const start = performance.now()
  let left = Infinity
  let seconds = 0
  for (let number = 0; ; number++) {
    const workload = workloads[number % 9]!
    const before = performance.now()
    opened.record(rowOf(10_000_000 + number, workload, 0.5))
    recordUs.push((performance.now() - before) * 1000)
    await opened.flush()
    writeMs.push(performance.now() - before)
    const asked = performance.now()
    await opened.recent({ workload, limit: 10 })
    readMs.push(performance.now() - asked)
    await delay(50)
    if (number % 40 > 0) continue
    const { rows } = await opened.counts()
    if (rows >= left) return { writeMs, readMs, recordUs, seconds, left: rows }
    left = rows
    seconds = (performance.now() - start) / 1000
  }
}

function fill(file: string, rows: number): void {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; BEGIN')
  const { features: _, key: __, measure: ___, ...own } = rowOf(0, '', 0)
  const names = Object.keys(own) as (keyof typeof own)[]
  const insert = db.prepare(`INSERT INTO jobs (${names}) VALUES (${names.map(() => '?')})`)
  const addTraits = db.prepare('INSERT INTO traits (id, job, features, key) VALUES (?, ?, ?, ?)')
  const random = stream(1, 'ledger')
  for (let number = 0; number < rows; number++) {
    const row = rowOf(number, workloads[number % 9]!, random.next())
    const { lastInsertRowid } = insert.run(...names.map((name) => row[name]))
    addTraits.run(lastInsertRowid, row.job, row.features, row.key)
  }
  db.exec('COMMIT')
  db.close()
}

/** Ids are spread like random ones; every tenth request is a repetition. */
function rowOf(number: number, workload: string, random: number): LedgerRow {
  const size = Math.floor(random * 2 ** 32)
  const endedAt = 1_700_000_000_000 + number * 100
  return {
    job: `${size.toString(16).padStart(8, '0')}-${number}`,
    workload,
    codeHash: `0123456789abcdef0123456789abcde${Math.floor(number / 300_000)}`,
    parameters: `{"width":${size % 2000},"height":${size % 777},"kind":"kind-${size % 5}"}`,
    work: 1_000 * Math.exp(10 * random),
    cpuMs: 12.5,
    wallMs: 20.25,
    peakMemoryMb: 64,
    worker: 'worker-1',
    attempts: 1,
    startedAt: endedAt - 20,
    endedAt,
    outcome: 'result',
    features: `{"pixels":${size % 1_554_000},"kind":"kind-${size % 5}"}`,
    key: number % 10 === 0 ? 'again' : `key-${number}`,
    measure: 'meter',
    quantities: '',
  }
}
