/** Opens the pool that runs a worker's jobs: slots for workloads, programs of an existing server, or an upstream. */
import { serverCode } from '../config/code.ts'
import type { ServerSettings } from '../config/server-settings.ts'
import type { MeterSetting } from '../model/metering.ts'
import { DirectDoor } from './direct/direct-door.ts'
import type { JobPool } from './job-pool.ts'
import { killOrphans } from './processes/stragglers.ts'
import { ProgramPool } from './program/program-pool.ts'
import { UpstreamPool } from './program/upstream-pool.ts'
import { nominalRate } from './rates.ts'
import { SlotPool } from './slots/slot-pool.ts'
import { readCode } from './workload-code.ts'

export type WorkerCode =
  | { files: string[]; server?: undefined }
  /** `limits`: time limits of jobs, by the routes that have their own. */
  | { server: ServerSettings; limits?: Readonly<Record<string, number>>; files?: undefined }

export interface PoolOptions {
  /** Jobs that run at a time, or programs if the server has a concurrency above 1. */
  cores: number
  /** Maximum number of accepted jobs. */
  slots: number
  /** Memory limit of one job. */
  jobMemoryMb: number
  /** Niceness of slots and programs; 0: the priority of the worker. */
  niceness: number
  /** Time limit of one job; 0: none. Default 0. Workloads and routes may have their own. */
  jobLimitMs?: number
  /** Environment variables that slots and programs may see, besides the usual ones. Default: none. */
  passEnv?: readonly string[]
  meter: MeterSetting
  dataDir: string
  /** True: the worker does not join if the program of an existing server does not become healthy. */
  mustStart?: boolean
  log(line: string): void
}

export interface OpenPool {
  pool: JobPool
  /** For small jobs. Undefined: all jobs take the general path. */
  direct?: DirectDoor
  /** Hashes of the code, by workload. */
  hashes: Record<string, string>
  cores: number
  slots: number
  meter: MeterSetting
  /** Time limit of a job of this workload or route; Infinity: none. */
  limitMs(name: string): number
}

export async function openPool(code: WorkerCode, options: PoolOptions): Promise<OpenPool> {
  const { files, server } = code
  const { cores, slots, jobMemoryMb: memoryMb, niceness, meter, dataDir, mustStart = false, log } = options
  const { passEnv = [], jobLimitMs = 0 } = options
  const limitMs = (limits: Readonly<Record<string, number>>) => (name: string) =>
    limits[name] ?? (jobLimitMs || Infinity)
  void killOrphans()
  if (!server) {
    const { hashes, limits, metered } = await readCode(files, meter)
    const pool = new SlotPool({
      files,
      dataDir,
      warm: cores,
      memoryMb,
      niceness,
      meter,
      metered,
      passEnv,
      log,
    })
    const workPerMs = meter === 'off' ? nominalRate(meter) : undefined
    const direct = new DirectDoor({ pool, cores, memoryMb, workPerMs })
    return { pool, direct, hashes, cores, slots, meter, limitMs: limitMs(limits) }
  }
  const pool =
    'command' in server
      ? new ProgramPool({ server, warm: cores, slots, memoryMb, niceness, passEnv, mustStart, log })
      : new UpstreamPool({ server, log })
  // The program on each core runs `concurrency` jobs at once.
  const jobs = cores * server.concurrency
  return {
    ...{ pool, hashes: serverCode(server), cores: jobs, slots: Math.max(slots, jobs), meter: 'off' },
    limitMs: limitMs(code.limits ?? {}),
  }
}
