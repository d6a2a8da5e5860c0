/**
 * What Plimsoll adds to requests to an existing server, beside nginx and no proxy at all: small requests over kept-alive
 * connections, a large download and a large upload.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { table } from '../../src/cli/terminal/table.ts'
import { median } from '../../src/simulate/summary.ts'
import { startProxy, versionOf } from '../live/proxies.ts'
import type { BenchOptions } from '../options.ts'
import { KeptConnection } from './client.ts'
import { treeCpuMs } from './cpu-time.ts'
import { type Started, startPlimsoll, startUpstream, upstream } from './started.ts'

interface Figures {
  /** Median times of a small request, over one connection and over several, and of one that computes for 1.5 ms. */
  aloneMs: number
  severalMs: number
  pageMs: number
  /** CPU time of the proxy for each small request over one connection. */
  cpuMs: number
  downloadMbPerSecond: number
  uploadMbPerSecond: number
}

interface Amounts {
  rounds: number
  requests: number
  bytes: number
}

const several = 8
const columns = {
  aloneMs: 'small GET p50',
  severalMs: `${several} connections p50`,
  pageMs: '1.5 ms page p50',
  cpuMs: 'CPU per GET',
  downloadMbPerSecond: 'download',
  uploadMbPerSecond: 'upload',
} as const

const names = ['direct', 'nginx', 'plimsoll', 'plimsoll, concurrency 8', 'plimsoll, 2 fronts'] as const
type Name = (typeof names)[number]

export async function path({ quick }: BenchOptions): Promise<Record<string, number | null>> {
  const amounts = quick
    ? { rounds: 3, requests: 150, bytes: 50_000_000 }
    : { rounds: 7, requests: 400, bytes: 200_000_000 }
  const hasNginx = versionOf('nginx') !== undefined
  if (!hasNginx) console.error('nginx is absent; on Debian: apt-get install --no-install-recommends nginx')
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
  const systems = new Map<Name, Started>()
  try {
    await startAll(systems, folder, hasNginx)
    const rounds: Map<Name, Figures>[] = []
    for (const system of systems.values()) await measure(system, { ...amounts, bytes: 1_000_000 })
    for (let round = 0; round < amounts.rounds; round++) {
      const figures = new Map<Name, Figures>()
      for (const [name, system] of systems) figures.set(name, await measure(system, amounts))
      rounds.push(figures)
    }
    return report(rounds, amounts)
  } finally {
    await Promise.all([...systems.values()].map((system) => system.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
}

async function startAll(systems: Map<Name, Started>, folder: string, hasNginx: boolean): Promise<void> {
  const direct = await startUpstream()
  systems.set('direct', direct)
  if (hasNginx) {
    const workers = [{ host: '127.0.0.1', port: direct.port, pid: 0 }]
    systems.set('nginx', await startProxy('nginx', { folder: join(folder, 'nginx'), token: 'none', workers }))
  }
  const start = async (name: Name, options: Partial<Parameters<typeof startPlimsoll>[1]> = {}) => {
    systems.set(name, await startPlimsoll(join(folder, name), { concurrency: 1, fronts: 1, ...options }))
  }
  await start('plimsoll')
  await start('plimsoll, concurrency 8', { concurrency: several })
  await start('plimsoll, 2 fronts', { fronts: 2 })
}

async function measure({ url, pid }: Started, { requests, bytes }: Amounts): Promise<Figures> {
  const [first, ...others] = await Promise.all(
    Array.from({ length: several }, () => KeptConnection.open(url)),
  )
  try {
    const cpuBefore = treeCpuMs(pid, upstream)
    const alone = await smallRequests(first!, requests)
    const cpuMs = (treeCpuMs(pid, upstream) - cpuBefore) / requests
    const page = await smallRequests(first!, Math.ceil(requests / 2), '/page')
    const together = await Promise.all(
      [first!, ...others].map((each) => smallRequests(each, Math.ceil((2 * requests) / several))),
    )
    const perSecond = async (act: () => Promise<unknown>) => {
      const began = performance.now()
      await act()
      return bytes / 1e3 / (performance.now() - began)
    }
    return {
      aloneMs: median(alone),
      severalMs: median(together.flat()),
      pageMs: median(page),
      cpuMs,
      downloadMbPerSecond: await perSecond(() => first!.get(`/large?bytes=${bytes}`)),
      uploadMbPerSecond: await perSecond(() => first!.put('/upload', bytes)),
    }
  } finally {
    for (const each of [first!, ...others]) each.close()
  }
}

async function smallRequests(connection: KeptConnection, count: number, path = '/small'): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const began = performance.now()
    await connection.get(path)
    times.push(performance.now() - began)
  }
  return times
}

function report(
  rounds: readonly Map<Name, Figures>[],
  { rounds: count, requests, bytes }: Amounts,
): Record<string, number | null> {
  const keys = Object.keys(columns) as (keyof Figures)[]
  const present = names.filter((name) => rounds[0]!.has(name))
  const of = (name: Name, key: keyof Figures) => median(rounds.map((round) => round.get(name)![key]))
  const unit = (key: keyof Figures, value: number) =>
    key.endsWith('Ms') ? `${value.toFixed(2)} ms` : `${value.toFixed(0)} MB/s`
  const rows = present.map((name) => [name, ...keys.map((key) => unit(key, of(name, key)))])
  console.log(table(['', ...keys.map((key) => columns[key])], rows))
  console.log(`
The same trivial server in Node alone, behind nginx and behind Plimsoll with one worker. Medians of ${count} interleaved
rounds, each with ${requests} requests for 100 bytes over one kept-alive connection, ${2 * requests} over ${several}, ${Math.ceil(requests / 2)}
requests that compute for 1.5 ms, and one download and one upload of ${bytes / 1e6} MB. CPU: of the proxy's processes without
the server's, for each request for 100 bytes.
`)
  const ratio = (name: Name, key: keyof Figures) => {
    if (!present.includes('nginx')) return null
    const ratios = rounds.map((round) => round.get(name)![key] / round.get('nginx')![key])
    return Number(median(ratios).toFixed(2))
  }
  return {
    small_get_p50_vs_nginx: ratio('plimsoll', 'aloneMs'),
    page_get_p50_vs_nginx: ratio('plimsoll', 'pageMs'),
    small_get_p50_vs_nginx_2_fronts: ratio('plimsoll, 2 fronts', 'aloneMs'),
    small_get_p50_vs_nginx_8_connections: ratio('plimsoll, concurrency 8', 'severalMs'),
    download_vs_nginx: ratio('plimsoll', 'downloadMbPerSecond'),
    small_get_p50_vs_nginx_concurrency_8: ratio('plimsoll, concurrency 8', 'aloneMs'),
    download_vs_nginx_concurrency_8: ratio('plimsoll, concurrency 8', 'downloadMbPerSecond'),
    download_vs_nginx_2_fronts: ratio('plimsoll, 2 fronts', 'downloadMbPerSecond'),
    upload_vs_nginx: ratio('plimsoll', 'uploadMbPerSecond'),
    cpu_per_get_vs_nginx: ratio('plimsoll', 'cpuMs'),
  }
}
