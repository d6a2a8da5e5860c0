/** One system under one load. */
import { setTimeout as delay } from 'node:timers/promises'
import { median } from '../../src/simulate/summary.ts'
import { KeptConnection } from '../own/client.ts'
import { benchCpuMs, machineCpuMs, ProcessTimes, type Role, type Used } from './process-times.ts'
import type { System } from './systems.ts'
import { runWrk } from './wrk.ts'

export const cells = {
  c1: { connections: 1, headers: 2, bytes: 100, title: '1 connection' },
  c8: { connections: 8, headers: 2, bytes: 100, title: '8 connections' },
  c64: { connections: 64, headers: 2, bytes: 100, title: '64 connections' },
  h8: { connections: 64, headers: 8, bytes: 100, title: '64 connections, 8 headers' },
  kib64: { connections: 64, headers: 2, bytes: 65_536, title: '64 connections, 64 KiB' },
} as const
export type CellName = keyof typeof cells
export const cellNames = Object.keys(cells) as CellName[]

export interface CellFigures {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** CPU time of the proxy per request. */
  cpuUs: number
  byRole: ReadonlyMap<Role, Used>
  requests: number
  /** Cores that processes which have nothing to do with the benchmark kept busy. */
  otherCores: number
}

/** Besides `Host`: what wrk and browsers send. */
const headerLines = [
  'Accept: */*',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Accept-Language: en-GB,en;q=0.7,de;q=0.3',
  'Accept-Encoding: gzip, deflate, br, zstd',
  'Referer: http://127.0.0.1/somewhere/else?query=text',
  'Cookie: session=0123456789abcdef0123456789abcdef; theme=dark; consent=necessary',
  'Cache-Control: no-cache',
]

/** Requests on each connection before a measurement: slots and programs may have stopped since the last one. */
const warmRequests = 5
const loneRequests = 25
const lonePauseMs = 10
const limitMs = 60_000

export async function measureCell(
  system: System,
  cellName: CellName,
  seconds: number,
  parts: { direct: System; signal: AbortSignal },
): Promise<CellFigures> {
  const { connections, headers, bytes } = cells[cellName]
  const path = system.path(bytes)
  await warm(system.url, path, connections, parts.signal)
  const times = new ProcessTimes([system.pid, parts.direct.pid])
  const [machineBefore, benchBefore] = [machineCpuMs(), benchCpuMs()]
  const began = performance.now()
  const load = {
    connections,
    seconds,
    headers: headerLines.slice(0, headers - 1),
    body: system.body?.(bytes),
  }
  let byRole: Map<Role, Used> | undefined
  const figures = await runWrk(system.url + path, load, bytes, parts.signal).finally(() => {
    byRole = times.stop()
  })
  const elapsedMs = performance.now() - began
  const knownMs = total(byRole!) + benchCpuMs() - benchBefore
  const otherCores = Math.max(0, machineCpuMs() - machineBefore - knownMs) / elapsedMs
  if (system.name !== 'direct') byRole!.delete('server')
  return { ...figures, cpuUs: (total(byRole!) * 1000) / figures.requests, byRole: byRole!, otherCores }
}

function total(byRole: ReadonlyMap<Role, Used>): number {
  return [...byRole.values()].reduce((sum, { cpuMs }) => sum + cpuMs, 0)
}

async function warm(url: string, path: string, connections: number, signal: AbortSignal): Promise<void> {
  const each = () =>
    withConnection(url, signal, async (connection) => {
      for (let i = 0; i < warmRequests; i++) await connection.get(path)
    })
  await Promise.all(Array.from({ length: connections }, each))
}

/** Median time of requests that come alone, with pauses between them. */
export function measureLone({ url, path }: System, signal: AbortSignal): Promise<number> {
  return withConnection(url, signal, async (connection) => {
    const times: number[] = []
    for (let i = 0; i < loneRequests; i++) {
      const began = performance.now()
      await connection.get(path(cells.c1.bytes))
      times.push(performance.now() - began)
      await delay(lonePauseMs)
    }
    return median(times)
  })
}

/** Time of one download, in milliseconds. */
export function measureDownload({ url, path }: System, bytes: number, signal: AbortSignal): Promise<number> {
  return withConnection(url, signal, async (connection) => {
    const began = performance.now()
    await connection.get(path(bytes))
    return performance.now() - began
  })
}

/** Rejects when the signal is aborted, or after a minute without a result. */
async function withConnection<T>(
  url: string,
  signal: AbortSignal,
  use: (connection: KeptConnection) => Promise<T>,
): Promise<T> {
  const connection = await KeptConnection.open(url)
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)])
  const given = Promise.withResolvers<never>()
  limit.addEventListener('abort', () => given.reject(limit.reason), { once: true })
  try {
    return await Promise.race([use(connection), given.promise])
  } finally {
    connection.close()
  }
}
