/**
 * Live slots: whether short jobs preempt a long one, how much that delays the long job, and the overhead of slots. One
 * worker pinned to one core; estimates are exact.
 */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { table } from '../src/cli/terminal/table.ts'
import type { Estimator } from '../src/estimate/estimator.ts'
import { thousandths } from '../src/lib/quantities.ts'
import { defaultMeter } from '../src/meter/hooks.ts'
import type { DisciplineName } from '../src/model/discipline.ts'
import { median } from '../src/simulate/summary.ts'
import type { SchedulerName } from '../src/systems/schedulers.ts'
import { cpuMs } from '../src/worker/processes/proc.ts'
import { nominalRate } from '../src/worker/rates.ts'
import { SlotPool, type SlotPoolOptions } from '../src/worker/slots/slot-pool.ts'
import { main, withCluster } from './cluster.ts'
import type { BenchOptions } from './options.ts'

const file = fileURLToPath(new URL('./workloads/spin.ts', import.meta.url))
const shortMs = 20
const shorts = 20
/** Short jobs come this often at most. */
const everyMs = 100
/** On a busy machine they come less often: jobs that wait for each other would say nothing about the running one. */
const everyLone = 3

/** Exact estimates. */
const exact: Estimator = {
  estimate({ params }) {
    const work = (params as { ms: number }).ms * nominalRate(defaultMeter)
    return { work, low: work, high: work, source: 'prior', reason: { code: 'fixed' }, memoryMb: 64 }
  },
  learn() {},
}

export async function slots({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const longMs = quick ? 4_000 : 20_000
  const srpt = await withSpinner('srpt', 'srpt', (send) => pass(send, longMs))
  const sharing = await withSpinner('least-connections', 'sharing', (send) => pass(send, longMs))
  const cost = await slotCosts(quick ? 5 : 15)
  const overheadMs = await withSpinner('srpt', 'srpt', (send) => overhead(send, quick ? 50 : 300))

  const row = (name: string, run: Passing) => [
    name,
    run.loneMs.toFixed(1),
    median(run.shortMs).toFixed(1),
    Math.max(...run.shortMs).toFixed(1),
    (Math.max(...run.shortMs) / run.loneMs).toFixed(2),
    (run.longMs / 1000).toFixed(2),
    `${(run.longDelay * 100).toFixed(1)} %`,
  ]
  console.log(
    `A running job of ${longMs / 1000} s, and meanwhile ${shorts} jobs of ${shortMs} ms, one every ${everyMs} ms or ${everyLone} times as long as one takes alone,\n` +
      'on one core; milliseconds\n',
  )
  console.log(
    table(
      [
        'discipline',
        'short alone',
        'short median',
        'short worst',
        'worst ÷ alone',
        'long, s',
        'long delayed by',
      ],
      [row('srpt', srpt), row('sharing', sharing)],
    ),
  )
  console.log(
    `\nA slot starts in ${cost.startMs.toFixed(1)} ms with ${cost.startCpuMs.toFixed(1)} ms of CPU time; a job that needs one has it in ${cost.needMs.toFixed(1)} ms, ` +
      `because slots are started ahead. A slot has ${cost.rssMb.toFixed(1)} MB of resident memory when idle, ` +
      `and ends ${cost.cancelMs.toFixed(1)} ms after a cancellation.\n` +
      `A job of 1 ms takes ${(overheadMs + 1).toFixed(2)} ms through front, brain, worker and slot. Medians.\n`,
  )
  return {
    short_max_vs_lone: thousandths(Math.max(...srpt.shortMs) / srpt.loneMs),
    long_delay: thousandths(srpt.longDelay),
    sharing_short_max_vs_lone: thousandths(Math.max(...sharing.shortMs) / sharing.loneMs),
    slot_start_ms: thousandths(cost.startMs),
    slot_start_cpu_ms: thousandths(cost.startCpuMs),
    slot_need_ms: thousandths(cost.needMs),
    slot_rss_mb: thousandths(cost.rssMb),
    cancel_ms_p50: thousandths(cost.cancelMs),
    overhead_ms_p50: thousandths(overheadMs),
  }
}

/** Sends a request and returns its response time and CPU time. */
type Send = (ms: number) => Promise<{ tookMs: number; cpuMs: number }>

interface Passing {
  loneMs: number
  shortMs: number[]
  longMs: number
  /** Delay of the long job beyond its own time plus that of the short jobs, as a share of both. */
  longDelay: number
}

async function pass(send: Send, longMs: number): Promise<Passing> {
  for (let i = 0; i < 5; i++) await send(shortMs)
  const alone: number[] = []
  for (let i = 0; i < 15; i++) alone.push((await send(shortMs)).tookMs)
  const loneMs = median(alone)
  const long = send(longMs)
  await pause(500)
  const all = Array.from({ length: shorts }, async (_, i) => {
    await pause(i * Math.max(everyMs, everyLone * loneMs))
    return (await send(shortMs)).tookMs
  })
  const shortTimes = await Promise.all(all)
  const { tookMs, cpuMs } = await long
  const due = cpuMs + shorts * loneMs
  return { loneMs, shortMs: shortTimes, longMs: tookMs, longDelay: tookMs / due - 1 }
}

async function overhead(send: Send, count: number): Promise<number> {
  for (let i = 0; i < 20; i++) await send(1)
  const times: number[] = []
  for (let i = 0; i < count; i++) times.push((await send(1)).tookMs)
  return median(times) - 1
}

async function withSpinner<T>(
  scheduler: SchedulerName,
  discipline: DisciplineName,
  use: (send: Send) => Promise<T>,
): Promise<T> {
  const pinned = spawnSync('taskset', ['-c', '0', 'true']).status === 0 ? ['taskset', '-c', '0'] : []
  const workerCommand = [...pinned, process.execPath, main, 'worker']
  const options = { files: [file], scheduler, discipline, slots: 64, workerCommand, estimator: exact }
  return withCluster(options, async ({ url }) => {
    const pool = new Pool(url, { headersTimeout: 0, bodyTimeout: 0 })
    const send: Send = async (ms) => {
      const began = performance.now()
      const response = await pool.request({
        method: 'POST',
        path: '/spin',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ms }),
      })
      const text = await response.body.text()
      if (response.statusCode !== 200) throw new Error(text)
      const { cpuMs } = JSON.parse(text) as { cpuMs: number }
      return { tookMs: performance.now() - began, cpuMs }
    }
    try {
      return await use(send)
    } finally {
      await pool.close()
    }
  })
}

/** Start time, memory and cancellation time of a slot. */
interface SlotCosts {
  /** Time until a job of 0 ms is answered that finds all slots of a pool taken but the one that was started ahead. */
  needMs: number
  /** Time and CPU time until a job of 0 ms is answered. */
  startMs: number
  startCpuMs: number
  rssMb: number
  cancelMs: number
}

async function slotCosts(count: number): Promise<SlotCosts> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
  const options: Omit<SlotPoolOptions, 'warm'> = {
    ...{ files: [file], dataDir, memoryMb: 256, surplusMs: 60_000 },
    log() {},
  }
  const spin = (ms: number) => ({ job: 'j', attempt: 1, workload: 'spin', params: { ms } })
  // The first slot fills the compile cache, as in a cluster.
  const warm = new SlotPool({ ...options, warm: 1 })
  await warm.ready()
  const pool = new SlotPool({ ...options, warm: 0 })
  try {
    const starts: number[] = []
    const cpus: number[] = []
    const sizes: number[] = []
    const cancels: number[] = []
    for (let i = 0; i < count; i++) {
      const began = performance.now()
      const run = pool.start(spin(i === 0 ? 1 : 0))
      await run.answer
      starts.push(performance.now() - began)
      const { pid } = run
      cpus.push(cpuMs(pid!) ?? 0)
      await run.ended
      await pause(100)
      sizes.push(residentMb(pid!))
      const hog = pool.start(spin(60_000))
      await pause(50)
      const asked = performance.now()
      hog.cancel()
      await hog.ended
      cancels.push(performance.now() - asked)
    }
    return {
      needMs: await needMs(options, count),
      ...{ startMs: median(starts), startCpuMs: median(cpus) },
      ...{ rssMb: median(sizes), cancelMs: median(cancels) },
    }
  } finally {
    await pool.close()
    await warm.close()
    rmSync(dataDir, { recursive: true })
  }
}

/** Each job keeps its slot, so that the next one needs another. */
async function needMs(options: Omit<SlotPoolOptions, 'warm'>, count: number): Promise<number> {
  const pool = new SlotPool({ ...options, warm: 1 })
  await pool.ready()
  const times: number[] = []
  try {
    for (let i = 0; i < count; i++) {
      const began = performance.now()
      const run = pool.start({ job: `n${i}`, attempt: 1, workload: 'spin', params: { ms: 0 } })
      await run.answer
      times.push(performance.now() - began)
      await run.ended
      const long = pool.start({ job: `l${i}`, attempt: 1, workload: 'spin', params: { ms: 60_000 } })
      while (pool.idle === 0) await pause(20)
      long.pause()
    }
    return median(times)
  } finally {
    await pool.close()
  }
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}
