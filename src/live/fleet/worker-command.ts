/** The options with which a cluster starts workers and fronts on its machine. They receive their token over a pipe. */

import { totalmem } from 'node:os'
import { type MeterSetting, meterFlags } from '../../model/metering.ts'

export interface WorkerCommandOptions {
  /** The command that starts a worker, without options. */
  workerCommand: string[]
  /** Modules of workloads. */
  files: string[]
  /** The configuration of an existing server, in place of workloads. */
  config?: string
  dataDir: string
  slots: number
  /** Maximum number of workers; they share the machine's memory. */
  max: number
  jobMemoryMb: number
  /** Niceness of the processes that run jobs. Default 0. */
  niceness?: number
  /** Time limit of one job; 0: none. Default: that of a worker. */
  jobLimitMs?: number
  /** Environment variables that workloads and programs may see. Default: none but the usual ones. */
  passEnv?: readonly string[]
  /** True: the worker ends if the program of an existing server does not become healthy. Default false. */
  mustStart?: boolean
}

/** Part of the machine's memory that all workers together may use. */
const memoryPart = 0.8

export function workerCommand(
  { workerCommand: command, files, config, dataDir, max, mustStart = false, ...limits }: WorkerCommandOptions,
  meter: MeterSetting,
  adminUrl: string,
): string[] {
  const memoryMb = Math.floor((totalmem() / 1024 / 1024 / Math.max(1, max)) * memoryPart)
  return [
    ...command,
    ...['--join', adminUrl, '--token-file', '-'],
    ...(config === undefined ? ['--workloads', files.join(',')] : ['--config', config]),
    ...['--data', dataDir],
    ...['--memory', `${memoryMb}`],
    ...limitFlags(limits),
    ...(config === undefined ? meterFlags(meter) : []),
    ...(mustStart ? ['--must-start'] : []),
  ]
}

/** Options of all workers of a cluster, on any machine. */
export function limitFlags({
  slots,
  jobMemoryMb,
  niceness = 0,
  jobLimitMs,
  passEnv = [],
}: Pick<WorkerCommandOptions, 'slots' | 'jobMemoryMb' | 'niceness' | 'jobLimitMs' | 'passEnv'>): string[] {
  return [
    ...['--slots', `${slots}`],
    ...['--job-memory', `${jobMemoryMb}`],
    ...(niceness > 0 ? ['--nice', `${niceness}`] : []),
    ...(jobLimitMs === undefined ? [] : ['--job-limit', `${jobLimitMs / 1000}`]),
    ...(passEnv.length > 0 ? ['--pass-env', passEnv.join(',')] : []),
  ]
}

/** The options of a front. */
export function frontArgs(
  { files, config }: Pick<WorkerCommandOptions, 'files' | 'config'>,
  meter: MeterSetting,
  adminUrl: string,
): string[] {
  return [
    ...['--join', adminUrl],
    ...(config === undefined ? ['--workloads', files.join(','), ...meterFlags(meter)] : ['--config', config]),
  ]
}
