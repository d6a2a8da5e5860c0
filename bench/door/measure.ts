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

export async function measureCell(
  system: System,
  cellName: CellName,
  seconds: number,
  parts: { direct: System; signal: AbortSignal },
): Promise<CellFigures> {
  const { connections, headers, bytes } = cells[cellName]
  const path = system.path(bytes)
  await warm(system.url, path, connections)
  const proxy = new ProcessTimes(system.pid, system.except)
  const all = [
    new ProcessTimes(system.pid),
    ...(system.name === 'direct' ? [] : [new ProcessTimes(parts.direct.pid)]),
  ]
  const [machineBefore, benchBefore] = [machineCpuMs(), benchCpuMs()]
  const began = performance.now()
  const load = { connections, seconds, headers: headerLines.slice(0, headers - 1) }
  const figures = await runWrk(system.url + path, load, bytes, parts.signal).finally(() => {
    for (const each of [proxy, ...all]) each.stop()
  })
  const byRole = proxy.stop()
  const elapsedMs = performance.now() - began
  const knownMs = all.reduce((sum, each) => sum + total(each.stop()), benchCpuMs() - benchBefore)
  const otherCores = Math.max(0, machineCpuMs() - machineBefore - knownMs) / elapsedMs
  return { ...figures, cpuUs: (total(byRole) * 1000) / figures.requests, byRole, otherCores }
}

function total(byRole: ReadonlyMap<Role, Used>): number {
  return [...byRole.values()].reduce((sum, { cpuMs }) => sum + cpuMs, 0)
}

async function warm(url: string, path: string, connections: number): Promise<void> {
  const opened = await Promise.all(Array.from({ length: connections }, () => KeptConnection.open(url)))
  try {
    await Promise.all(
      opened.map(async (connection) => {
        for (let i = 0; i < warmRequests; i++) await connection.get(path)
      }),
    )
  } finally {
    for (const each of opened) each.close()
  }
}

/** Median time of requests that come alone, with pauses between them. */
export async function measureLone({ url, path }: System, signal: AbortSignal): Promise<number> {
  const connection = await KeptConnection.open(url)
  try {
    const times: number[] = []
    for (let i = 0; i < loneRequests; i++) {
      const began = performance.now()
      await connection.get(path(cells.c1.bytes))
      times.push(performance.now() - began)
      await delay(lonePauseMs, undefined, { signal })
    }
    return median(times)
  } finally {
    connection.close()
  }
}

/** Time of one download, in milliseconds. */
export async function measureDownload({ url, path }: System, bytes: number): Promise<number> {
  const connection = await KeptConnection.open(url)
  try {
    const began = performance.now()
    await connection.get(path(bytes))
    return performance.now() - began
  } finally {
    connection.close()
  }
}
