/**
 * Durable jobs: how many a system accepts in a second, and how long one takes. The store on SQLite and on PostgreSQL, beside
 * pg-boss on the same server and BullMQ on Redis; all from this process, with the same content and number of callers.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { interruptible } from '../src/cli/terminal/interrupt.ts'
import { median } from '../src/simulate/summary.ts'
import { type Postgres, startPostgres } from '../test/support/postgres.ts'
import { startHttp } from './jobs/http.ts'
import {
  type Name,
  names,
  queuesFolder,
  type System,
  startBullMq,
  startPgBoss,
  startStore,
} from './jobs/systems.ts'
import type { BenchOptions } from './options.ts'

interface Figures {
  perSecond: number
  p50Ms: number
  p99Ms: number
}

type Round = ReadonlyMap<Name, Figures>

const usualCallers = 64
/** Code is compiled, connections are opened. */
const warmMs = 1_000

/** Undefined if one of the names is unknown. */
export function storesNamed(list: string): Name[] | undefined {
  const chosen = list.split(',')
  return chosen.every((name) => (names as readonly string[]).includes(name)) ? (chosen as Name[]) : undefined
}

export async function jobs(options: BenchOptions): Promise<Record<string, unknown>> {
  let figures: Record<string, unknown> = {}
  const code = await interruptible(async (signal) => {
    await using ending = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-jobs-bench-'))
    ending.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
    figures = await run(folder, ending, signal, options)
    return 0
  })
  if (code !== 0) process.exit(code)
  return figures
}

async function run(
  folder: string,
  ending: AsyncDisposableStack,
  signal: AbortSignal,
  { quick, rounds = quick ? 3 : 7, seconds = quick ? 1 : 4, callers = usualCallers, only }: BenchOptions,
): Promise<Record<string, unknown>> {
  const chosen = only === undefined ? names : storesNamed(only)!
  const server = await startPostgres()
  if (server) ending.defer(() => server.stop())
  const parts = { folder, server, queues: queuesFolder(), callers }
  const systems: System[] = []
  for (const name of names) {
    if (!chosen.includes(name)) continue
    signal.throwIfAborted()
    const system = await start(name, parts)
    if (!system) continue
    ending.defer(() => system.stop())
    systems.push(system)
  }
  for (const system of systems) await measure(system, callers, warmMs, signal)
  const measured: Round[] = []
  for (let round = 0; round < rounds; round++) {
    const figures = new Map<Name, Figures>()
    // The order alternates, so that no system always follows the same one.
    for (const system of round % 2 === 0 ? systems : systems.toReversed())
      figures.set(system.name, await measure(system, callers, seconds * 1_000, signal))
    measured.push(figures)
  }
  print(measured, systems, callers)
  return headline(measured)
}

interface StartParts {
  folder: string
  server: Postgres | undefined
  queues: string | undefined
  callers: number
}

async function start(
  name: Name,
  { folder, server, queues, callers }: StartParts,
): Promise<System | undefined> {
  if (name === 'sqlite') return startStore(name, join(folder, 'jobs'))
  if (name === 'sqlite-http') return startHttp(name, callers)
  if (name === 'postgres') return server && startStore(name, await server.createDatabase())
  if (name === 'postgres-http') return server && startHttp(name, callers, server)
  if (queues === undefined) return undefined
  if (name === 'pgboss') return server && startPgBoss(queues, server)
  return startBullMq(queues, folder, name === 'bullmq' ? 'always' : 'everysec')
}

/** Rejects if the system does not have as many jobs as it has accepted. */
async function measure(system: System, callers: number, ms: number, signal: AbortSignal): Promise<Figures> {
  const before = await system.count()
  const latencies: number[] = []
  const began = performance.now()
  const call = async () => {
    while (performance.now() - began < ms) {
      signal.throwIfAborted()
      const startedAt = performance.now()
      await system.accept()
      latencies.push(performance.now() - startedAt)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  const tookS = (performance.now() - began) / 1_000
  const there = (await system.count()) - before
  if (there !== latencies.length)
    throw new Error(`${system.name}: accepted ${latencies.length} jobs, but has ${there}`)
  const sorted = latencies.toSorted((a, b) => a - b)
  const quantile = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!
  return { perSecond: latencies.length / tookS, p50Ms: quantile(0.5), p99Ms: quantile(0.99) }
}

function over(rounds: readonly Round[], name: Name, key: keyof Figures): number | undefined {
  const values = rounds.flatMap((round) => round.get(name)?.[key] ?? [])
  return values.length > 0 ? median(values) : undefined
}

function print(rounds: readonly Round[], systems: readonly System[], callers: number): void {
  console.log(
    `${rounds.length} interleaved rounds, ${callers} callers; medians, and the range over the rounds`,
  )
  console.log(
    `${'system'.padEnd(18)}${'accepts/s'.padStart(10)}${'range'.padStart(16)}${'p50 ms'.padStart(9)}${'p99 ms'.padStart(9)}`,
  )
  for (const { name } of systems) {
    const rates = rounds.map((round) => Math.round(round.get(name)!.perSecond))
    const [rate, p50, p99] = (['perSecond', 'p50Ms', 'p99Ms'] as const).map((key) => over(rounds, name, key)!)
    const range = `${Math.min(...rates)}–${Math.max(...rates)}`
    console.log(
      `${name.padEnd(18)}${rate!.toFixed(0).padStart(10)}${range.padStart(16)}${p50!.toFixed(2).padStart(9)}${p99!.toFixed(2).padStart(9)}`,
    )
  }
}

/** Ratios are medians of the ratios within each round. Redis that writes once a second promises less, and is no rival. */
function headline(rounds: readonly Round[]): Record<string, number | null> {
  const figures: Record<string, number | null> = {}
  for (const name of names) {
    const key = name.replace('-', '_')
    figures[`${key}_accepts_per_s`] = rounded(over(rounds, name, 'perSecond'))
    figures[`${key}_p99_ms`] = rounded(over(rounds, name, 'p99Ms'))
  }
  const ratio = (of: Name, to: readonly Name[]) => {
    const values = rounds.flatMap((round) => {
      const [above, ...below] = [of, ...to].map((name) => round.get(name)?.perSecond)
      const rivals = below.filter((value) => value !== undefined)
      return above === undefined || rivals.length === 0 ? [] : above / Math.max(...rivals)
    })
    return rounded(values.length > 0 ? median(values) : undefined)
  }
  return {
    ...figures,
    sqlite_vs_best: ratio('sqlite', ['bullmq', 'pgboss']),
    postgres_vs_pgboss: ratio('postgres', ['pgboss']),
    postgres_vs_best: ratio('postgres', ['bullmq', 'pgboss']),
  }
}

function rounded(value: number | undefined): number | null {
  return value === undefined ? null : Number(value.toPrecision(3))
}
