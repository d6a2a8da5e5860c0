/** The systems under comparison. Each is started again for every run, with a copy of the same data. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { LogEntry } from '../../src/brain/log/log.ts'
import { maxQueryLimit } from '../../src/ledger/ledger.ts'
import { openSqliteLedger } from '../../src/ledger/sqlite.ts'
import type { Job } from '../../src/model/job.ts'
import { streamNames } from '../estimate/stream.ts'
import { startBareWorkers } from './bare-workers.ts'
import type { ClusterReady, ClusterSetup } from './cluster-child.ts'
import { type ProxyName, startProxy } from './proxies.ts'
import { bootLimitMs, unlimitedSlots } from './setting.ts'
import { forCluster, forWorker, type Wording } from './wording.ts'

export interface RunningSystem {
  url: string
  wording: Wording
  /** Its processes other than slots: workers, and the rest. */
  workerPids: number[]
  otherPids: number[]
  stop(): Promise<void>
  /** The jobs of a stopped cluster. */
  jobs?(): Promise<Map<string, SeenJob>>
}

export interface SeenJob {
  /** As the brain received it, with its estimate. */
  job: Job
  /** Measured. */
  cpuMs: number
}

export const systemNames = ['plimsoll', 'least-connections', 'haproxy', 'nginx'] as const
export type SystemName = (typeof systemNames)[number]

/** `folder` is created if missing; `data` is copied into it. */
export function startSystem(name: SystemName, folder: string, data: string): Promise<RunningSystem> {
  const own = join(folder, 'data')
  cpSync(data, own, { recursive: true })
  if (name === 'haproxy' || name === 'nginx') return startBehind(name, folder, own)
  if (name === 'plimsoll') return startCluster(own)
  return startCluster(own, { preset: 'classic', slots: unlimitedSlots })
}

export async function startCluster(
  data: string,
  options: ClusterSetup['options'] = {},
): Promise<RunningSystem> {
  const eventLog = join(data, 'events.log')
  const setup: ClusterSetup = { options: { ...options, data, eventLog: eventLog } }
  const child = fork(fileURLToPath(new URL('./cluster-child.ts', import.meta.url)), [JSON.stringify(setup)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true,
  })
  let said = ''
  child.stderr!.on('data', (text) => {
    said = (said + text).slice(-4000)
  })
  const ended = once(child, 'exit')
  const stop = async () => {
    if (child.connected) child.disconnect()
    await ended
  }
  const ready = await Promise.race([
    once(child, 'message').then(([message]) => message as ClusterReady),
    ended.then(() => 'ended' as const),
    pause(bootLimitMs, 'late' as const, { ref: false }),
  ])
  if (ready === 'ended') throw new Error(`the cluster ended:\n${said}`)
  if (ready === 'late') {
    await stop()
    throw new Error(`the workers of the cluster did not come up within ${bootLimitMs / 1000} s:\n${said}`)
  }
  return {
    url: ready.url,
    wording: forCluster,
    workerPids: ready.workerPids,
    otherPids: [child.pid!],
    stop,
    jobs: () => jobsOf(eventLog, join(data, 'ledger.db')),
  }
}

async function startBehind(name: ProxyName, folder: string, data: string): Promise<RunningSystem> {
  const { token, workers, stop } = await startBareWorkers(data)
  try {
    const proxy = await startProxy(name, { folder: join(folder, name), token, workers })
    return {
      url: proxy.url,
      wording: forWorker(),
      workerPids: workers.map(({ pid }) => pid),
      otherPids: [proxy.pid],
      async stop() {
        await proxy.stop()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function jobsOf(eventLog: string, file: string): Promise<Map<string, SeenJob>> {
  const cpuMs = new Map<string, number>()
  const ledger = await openSqliteLedger({ file })
  try {
    for (const workload of streamNames) {
      for (const row of await ledger.recent({ workload, limit: maxQueryLimit })) cpuMs.set(row.job, row.cpuMs)
    }
  } finally {
    await ledger.close()
  }
  const jobs = new Map<string, SeenJob>()
  for (const line of readFileSync(eventLog, 'utf8').split('\n').slice(1)) {
    if (line === '') continue
    const { event } = JSON.parse(line) as LogEntry
    if (event.type !== 'arrived') continue
    const { job } = event
    const took = cpuMs.get(job.id)
    if (took !== undefined) jobs.set(job.id, { job, cpuMs: took })
  }
  return jobs
}
