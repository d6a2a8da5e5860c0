/** A function's process: one slot and a port that accepts one attempt at a time, and answers 429 to others. */

import type { AddressInfo } from 'node:net'
import { ConfigError } from '../../lib/errors.ts'
import { disciplines } from '../../model/discipline.ts'
import type { MeterSetting } from '../../model/metering.ts'
import { attemptServer } from '../../worker/attempts/attempt-server.ts'
import { SlotPool } from '../../worker/slots/slot-pool.ts'
import { Supervisor } from '../../worker/supervisor.ts'
import { readCode } from '../../worker/workload-code.ts'
import { loadWorkloads } from '../../workload/load.ts'

export interface FunctionOptions {
  files: string[]
  /** The only workload that it runs. Default: all. */
  only?: string | undefined
  token: string
  memoryMb: number
  meter: MeterSetting
  dataDir: string
  /** Environment variables that workloads may see, besides the usual ones. */
  passEnv: readonly string[]
  log(line: string): void
}

/** Runs until it is aborted. Calls `listening` with the port once it accepts attempts. */
export async function runFunction(
  { files: all, only, token, memoryMb, meter, dataDir, passEnv, log }: FunctionOptions,
  listening: (port: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const files = only === undefined ? all : await filesWith(only, all)
  const { metered } = await readCode(files, meter)
  const slots = { warm: 0, memoryMb, metered, passEnv }
  const pool = new SlotPool({ files, dataDir, meter, log, ...slots })
  // Progress is not reported: functions have no connection to the brain.
  const supervisor = new Supervisor({ pool, cores: 1, slots: 1, meter, send: () => {} }, disciplines.fifo)
  const server = attemptServer(supervisor, token, Promise.resolve(), { full: 'throttled' })
  try {
    await pool.ready()
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, '127.0.0.1', resolve)
    })
    const ended = new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    listening((server.address() as AddressInfo).port)
    await ended
  } finally {
    server.close()
    server.closeAllConnections()
    await pool.close()
  }
}

async function filesWith(workload: string, files: readonly string[]): Promise<string[]> {
  for (const file of files)
    if ((await loadWorkloads([file])).some(({ name }) => name === workload)) return [file]
  throw new ConfigError(`--only = ${workload}: no such workload in ${files.join(', ')}`)
}
