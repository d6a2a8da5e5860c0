import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { clusterOptions } from '../config/cluster-options.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { openSqliteLedger } from '../ledger/sqlite.ts'
import { ConfigError } from '../lib/errors.ts'
import { oneOf } from '../lib/one-of.ts'
import { makePrivateFolder } from '../lib/private-files.ts'
import { type TimeUnit, timeUnits } from '../live/learn/access-log.ts'
import { readLedger } from '../live/learn/from-ledger.ts'
import { type LogCounts, rowsOfLog } from '../live/learn/from-log.ts'
import { type Serving, servingOf } from '../live/serving.ts'
import { nominalRate } from '../worker/rates.ts'
import { configOption } from './cluster/config-option.ts'
import { readConfigured } from './cluster/configuration.ts'
import { bundledWorkloads, workloadFiles } from './cluster/workload-files.ts'
import { type Command, rejectRest } from './options.ts'

const { workloads, data } = clusterOptions
const options = {
  from: { type: 'text', help: 'access log, or ledger.db of another cluster', value: 'FILE', path: 'one' },
  unit: { type: 'text', help: 'unit of the request times of an access log: s, ms or us', default: 's' },
  ...{ data, workloads },
  ...configOption,
} as const

/** Seeds estimates with what is known from elsewhere. */
export const learn: Command = {
  summary: 'Seed the estimates of a cluster from an access log, or from the ledger of another cluster.',
  usage: '--from FILE [options]',
  options,
  async run(args) {
    const { values, rest, config } = await readConfigured(args, options, (line) => console.error(line))
    rejectRest('learn', rest)
    const { from } = values
    if (from === undefined)
      throw new ConfigError('--from: required: an access log, or ledger.db of another cluster')
    if (!existsSync(from) || !statSync(from).isFile())
      throw new ConfigError(`--from = ${from}: must be a file that exists`)
    oneOf('--unit', values.unit, timeUnits)
    const own = config?.own
    const files = own ? [] : workloadFiles(values.workloads ?? bundledWorkloads)
    const serving = await servingOf({ files, ...(own && { own }) })
    const ledgerFile = join(resolve(values.data), 'ledger.db')
    if (resolve(from) === ledgerFile)
      throw new ConfigError(`--from = ${from}: is the ledger of --data itself`)
    makePrivateFolder(resolve(values.data), (line) => console.error(line))
    const ledger = await openSqliteLedger({
      file: ledgerFile,
      onError: (error) => console.error(error.message),
    })
    try {
      if (isLedger(from)) return await learnLedger(from, serving, ledger)
      const unit = values.unit as TimeUnit
      const parts = { file: from, unit, serving, nominal: nominalRate(serving.meter) }
      return await learnLog({ ...parts, now: Date.now(), log: (line) => console.error(line) }, ledger)
    } finally {
      await ledger.close()
    }
  },
}

/** All SQLite files begin like this. */
function isLedger(file: string): boolean {
  const start = Buffer.alloc(15)
  const descriptor = openSync(file, 'r')
  try {
    readSync(descriptor, start)
  } finally {
    closeSync(descriptor)
  }
  return start.toString('latin1') === 'SQLite format 3'
}

/** Rows are written in batches: a ledger buffers a limited number. */
const batch = 500

async function learnLog(parts: Parameters<typeof rowsOfLog>[0], ledger: Ledger): Promise<number> {
  const counts: LogCounts = { lines: 0, learned: 0, failed: 0, elsewhere: 0, rejected: 0, unreadable: 0 }
  for await (const row of rowsOfLog(parts, counts)) {
    ledger.record(row)
    if (counts.learned % batch === 0) await ledger.flush()
  }
  await ledger.flush()
  const { lines, learned, failed, elsewhere, rejected, unreadable, firstBad } = counts
  console.log(`Learned from ${learned} of ${lines} lines.`)
  const skipped: [number, string][] = [
    [failed, 'of failed requests, or without a time'],
    [elsewhere, `of paths that are not served; served are ${Object.keys(parts.serving.code).join(', ')}`],
    [rejected, 'of requests that would be rejected, for example because their body is not in the log'],
    [unreadable, `that cannot be read; the first is line ${firstBad?.line}: ${firstBad?.why}`],
  ]
  for (const [count, what] of skipped) if (count > 0) console.error(`Skipped ${count} lines ${what}.`)
  return learned > 0 ? 0 : 1
}

async function learnLedger(file: string, { code }: Serving, ledger: Ledger): Promise<number> {
  const { rows, snapshots, others } = await readLedger(file, Object.keys(code))
  for (const [i, row] of rows.entries()) {
    ledger.record(row)
    if (i % batch === batch - 1) await ledger.flush()
  }
  for (const snapshot of snapshots) ledger.saveSnapshot(snapshot)
  await ledger.flush()
  console.log(`Learned ${rows.length} measurements and ${snapshots.length} models.`)
  if (others > 0)
    console.error(`Skipped ${others} rows of what is not served; served are ${Object.keys(code).join(', ')}.`)
  return rows.length + snapshots.length > 0 ? 0 : 1
}
