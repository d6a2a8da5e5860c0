/** One worker of a preset to measure on: it runs all requests at once, and its meter is that of the preset. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { clusterOptions } from '../../config/cluster-options.ts'
import { defaultsOf } from '../../config/option.ts'
import type { LedgerRow } from '../../ledger/ledger.ts'
import { PlimsollError } from '../../lib/errors.ts'
import { type Cluster, startCluster } from '../../live/cluster.ts'
import type { MeterSetting } from '../../model/metering.ts'
import type { Tally } from '../../model/metrics.ts'
import { healthPath } from '../../wire/messages.ts'
import { clusterOptionsFrom } from '../cluster/from-options.ts'
import { accountOf } from '../terminal/account.ts'
import { type Client, client } from '../terminal/client.ts'

export interface Asked {
  workload: string
  params: Readonly<Record<string, string | number>>
  body?: Uint8Array
}

/** What the worker measured of a request. */
export interface Measured {
  work: number
  cpuMs: number
  peakMemoryMb: number
  /** From sending the request to its answer. */
  responseMs: number
  /** Amount of each metric, if the preset records them. */
  tally: Tally
}

export interface Lab {
  measure(asked: Asked): Promise<Measured>
  /** Sends requests without measuring them. `stop` cancels the unfinished ones; `ended` rejects if one fails. */
  occupy(all: readonly Asked[]): { stop(): Promise<void>; ended: Promise<unknown> }
  /** The time that the worker takes to answer a ping, over a new connection. */
  pingMs(): Promise<number>
}

export interface LabParts {
  preset: string
  /** In place of the preset's. */
  meter?: (usual: MeterSetting) => MeterSetting
  log(line: string): void
  signal: AbortSignal
}

/** An experiment could not be measured. */
export class CalibrationError extends PlimsollError {
  readonly code = 'CALIBRATION'
}

/** A busy machine delays workers, which must not end an experiment. */
const patient = { missedBeats: 1000, freshMs: 2 ** 30, bootMs: 300_000, mostSlowdown: 0 }
const slots = 64

/** Runs `work` with a lab of its own, and removes everything afterwards. */
export async function inLab<T>(parts: LabParts, work: (lab: Lab) => Promise<T>): Promise<T> {
  const data = await mkdtemp(join(tmpdir(), 'plimsoll-calibrate-'))
  try {
    const cluster = await startCluster(optionsOf(data, parts))
    const connection = client(new URL(cluster.url))
    try {
      await Promise.race([cluster.ready, aborted(parts.signal)])
      return await work(labOf(cluster, connection, parts.signal))
    } finally {
      await connection.close()
      await cluster.stop(0)
    }
  } finally {
    await rm(data, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** The preset's workloads and meter, without its policies. */
function optionsOf(data: string, { preset, meter, log }: LabParts) {
  const values = { ...defaultsOf(clusterOptions), port: 0, adminPort: 0, data, preset, min: 1, max: 1 }
  const { placing, scale, functions, componentLog, ruled, ...options } = clusterOptionsFrom(values, log)
  return {
    ...options,
    ...{ scheduler: 'least-connections', discipline: 'sharing' as const, slots, limits: patient, log },
    ...(meter && options.meter && { meter: meter(options.meter) }),
  }
}

function labOf(cluster: Cluster, connection: Client, signal: AbortSignal): Lab {
  const send = async ({ workload, params, body }: Asked, until: AbortSignal) => {
    const query = new URLSearchParams(
      Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
    )
    const answer = await connection.send({
      method: 'POST',
      path: body ? `/${workload}?${query}` : `/${workload}`,
      headers: { 'content-type': body ? 'application/octet-stream' : 'application/json' },
      body: body ?? JSON.stringify(params),
      signal: until,
    })
    const text = await answer.body.text()
    if (answer.status >= 300)
      throw new CalibrationError(
        `calibrate: ${workload}?${query} was answered ${answer.status}: ${text.trim()}`,
      )
    return accountOf(answer.headers)
  }
  return {
    async measure(asked) {
      const began = performance.now()
      const { job } = await send(asked, signal)
      const responseMs = performance.now() - began
      await cluster.ledger.flush()
      const rows = await cluster.ledger.recent({ workload: asked.workload, limit: 200 })
      const row = rows.find((each) => each.job === job)
      if (!row) throw new CalibrationError(`calibrate: the ledger has no row of job ${job}`)
      const { work, cpuMs, peakMemoryMb } = row
      return { work, cpuMs, peakMemoryMb, responseMs, tally: await tallyOf(cluster, row) }
    },
    async pingMs() {
      const [worker] = cluster.state().workers
      if (worker?.address === undefined) throw new CalibrationError('calibrate: the worker is gone')
      const began = performance.now()
      const headers = { connection: 'close' }
      const answer = await fetch(`http://${worker.address}${healthPath}`, { headers, signal })
      await answer.arrayBuffer()
      return performance.now() - began
    },
    occupy(all) {
      const over = new AbortController()
      const until = AbortSignal.any([signal, over.signal])
      const requests = all.map((asked) => send(asked, until))
      const ended = Promise.all(requests)
      // The caller may only stop them.
      ended.catch(() => {})
      return {
        ended,
        async stop() {
          over.abort()
          await Promise.allSettled(requests)
          await idle(cluster, signal)
        },
      }
    },
  }
}

/** Metrics are recorded while a job runs; of other presets only their sums are known. */
async function tallyOf({ ledger }: Cluster, { workload, codeHash, key, quantities }: LedgerRow) {
  const row = await ledger.metricsFor({ workload, codeHash, parameters: key })
  const text = row?.tally ?? quantities
  return (text === '' ? {} : JSON.parse(text)) as Tally
}

/** Cancelled jobs end a moment later. */
async function idle(cluster: Cluster, signal: AbortSignal): Promise<void> {
  while (cluster.state().workers.some(({ jobs }) => jobs.length > 0)) await wait(20, undefined, { signal })
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
