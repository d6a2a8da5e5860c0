/** Measures the cost of each request of a workload's stream, and the variation that features do not explain. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stream } from '../../src/lib/random.ts'
import { defaultMeter } from '../../src/meter/hooks.ts'
import { median, quantile } from '../../src/simulate/summary.ts'
import { readCode } from '../../src/worker/workload-code.ts'
import { codeHash } from '../../src/workload/code-hash.ts'
import { loadWorkloads } from '../../src/workload/load.ts'
import type { Workload } from '../../src/workload/workload.ts'
import { validParams } from '../meter/runner.ts'
import type { StreamSetup } from './child.ts'
import { kept } from './kept.ts'
import type { Row } from './row.ts'
import type { Stream, StreamName } from './stream.ts'

export type { Row } from './row.ts'
export { type StreamName, streamNames } from './stream.ts'

/** Increase with every change of the rows' fields or of how requests are run. */
const version = 1
/** Concurrent processes. */
const lanes = 2

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const fileOf = (name: StreamName) => at(`../../workloads/${name}.ts`)
const streamOf = (name: StreamName) => at(`./streams/${name}.ts`)

/** The first `count` requests of a workload's stream. */
export async function measure(name: StreamName, seed: number, count: number): Promise<Row[]> {
  return rowsOf(name, { seed, count, alike: 1 })
}

/** The same for several workloads. */
export async function measureAll<Name extends StreamName>(
  names: readonly Name[],
  seed: number,
  count: number,
): Promise<Map<Name, Row[]>> {
  const rows = await inLanes(names, (name) => measure(name, seed, count))
  return new Map(names.map((name, i) => [name, rows[i]!]))
}

/** Distance of log(work) from the median of requests with equal features. */
export interface Unknowable {
  median: number
  p95: number
}

const groups = 40
const alike = 6

/** Undefined if requests with equal features have equal work. */
export async function unknowable(name: StreamName): Promise<Unknowable | undefined> {
  const { vary } = (await import(streamOf(name))) as Stream
  if (!vary) return undefined
  const rows = await rowsOf(name, { seed: 2, count: groups, alike })
  const logs = rows.map(({ work }) => Math.log(work))
  const middles = Array.from({ length: groups }, (_, i) => median(logs.slice(i * alike, (i + 1) * alike)))
  const distances = logs
    .map((log, i) => Math.abs(log - middles[Math.floor(i / alike)]!))
    .sort((a, b) => a - b)
  return { median: median(distances), p95: quantile(distances, 0.95) }
}

export async function unknowableAll<Name extends StreamName>(
  names: readonly Name[],
): Promise<Map<Name, Unknowable | undefined>> {
  const all = await inLanes(names, unknowable)
  return new Map(names.map((name, i) => [name, all[i]]))
}

/** A workload and the first requests of its stream. */
export async function requestsOf(
  name: StreamName,
  count: number,
): Promise<{ workload: Workload; requests: { params: unknown; body: Uint8Array }[] }> {
  const { sample } = (await import(streamOf(name))) as Stream
  const [workload] = await loadWorkloads([fileOf(name)])
  const random = stream(1, `requests of ${name}`)
  const requests: { params: unknown; body: Uint8Array }[] = []
  for (let i = 0; i < count; i++) {
    const { params, body = new Uint8Array() } = sample(random)
    requests.push({ params: await validParams(workload!, params), body })
  }
  return { workload: workload!, requests }
}

type Wanted = Pick<StreamSetup, 'seed' | 'count' | 'alike'>

async function rowsOf(name: StreamName, wanted: Wanted): Promise<Row[]> {
  const file = fileOf(name)
  const { hashes, metered } = await readCode([file], defaultMeter)
  const facts = { version, code: hashes[name], stream: await codeHash(streamOf(name)), ...wanted }
  const startedAt = performance.now()
  const { value: rows, isNew } = await kept(name, facts, () =>
    run({
      file,
      stream: streamOf(name),
      meter: { ...defaultMeter, packages: [...metered.packages!] },
      ...wanted,
    }),
  )
  const cpuMs = rows.reduce((sum, row) => sum + row.cpuMs, 0)
  const took = isNew ? `in ${((performance.now() - startedAt) / 1000).toFixed(0)} s` : 'before'
  console.error(
    `${name}: ${rows.length} requests, measured ${took}, ${(cpuMs / rows.length).toFixed(1)} CPU ms each`,
  )
  return rows
}

function run(setup: StreamSetup): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const rows: Row[] = []
    const child = fork(at('./child.ts'), [JSON.stringify(setup)])
    child.on('message', (row) => rows.push(row as Row))
    child.on('error', reject)
    child.on('exit', (code) => {
      if (code === 0 && rows.length === setup.count * setup.alike) resolve(rows)
      else reject(new Error(`${setup.file}: exit code ${code} after ${rows.length} requests`))
    })
  })
}

async function inLanes<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length)
  const todo = items.entries()
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const [i, item] of todo) results[i] = await run(item)
    }),
  )
  return results
}
