/** What a worker runs jobs on: slots for workloads, the user's own program, or one that runs elsewhere. */
import { serverCode } from '../config/code.ts'
import type { ServerSettings } from '../config/server-settings.ts'
import type { MeterSetting } from '../model/metering.ts'
import { readCode } from './code.ts'
import type { JobPool } from './job-pool.ts'
import { ProgramPool } from './program/program-pool.ts'
import { UpstreamPool } from './program/upstream-pool.ts'
import { SlotPool } from './slots/slots.ts'

/** One of the two. */
export type WorkerCode =
  | { files: string[]; server?: undefined }
  | { server: ServerSettings; files?: undefined }

export interface PoolOptions {
  /** Jobs that run at a time; of a server that takes several, programs. */
  cores: number
  /** Most jobs that it holds. */
  slots: number
  /** Bound for one job. */
  jobMemoryMb: number
  meter: MeterSetting
  dataDir: string
  log(line: string): void
}

export interface OpenPool {
  pool: JobPool
  /** By workload. */
  hashes: Record<string, string>
  cores: number
  slots: number
  meter: MeterSetting
}

export async function openPool({ files, server }: WorkerCode, options: PoolOptions): Promise<OpenPool> {
  const { cores, slots, jobMemoryMb: memoryMb, meter, dataDir, log } = options
  if (!server) {
    const { hashes, packages, uncounted } = await readCode(files, meter)
    const pool = new SlotPool({ files, dataDir, warm: cores, memoryMb, meter, packages, uncounted, log })
    return { pool, hashes, cores, slots, meter }
  }
  const pool =
    'command' in server
      ? new ProgramPool({ server, warm: cores, slots, memoryMb, log })
      : new UpstreamPool({ server, log })
  // Each core's program takes so many jobs, and all of them run.
  const jobs = cores * server.concurrency
  return { pool, hashes: serverCode(server), cores: jobs, slots: Math.max(slots, jobs), meter: 'off' }
}
