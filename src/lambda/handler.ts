/**
 * `plimsoll/lambda`: the handler of a Lambda function that runs workloads for a balancer. Jobs run in a slot, as on a
 * worker, so that they are metered and limited alike, and a job that crashes or runs out of memory leaves the function warm.
 */

import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError } from '../lib/errors.ts'
import { defaultMeter } from '../meter/hooks.ts'
import { disciplines } from '../model/discipline.ts'
import type { MeterSetting } from '../model/metering.ts'
import { ofServed } from '../systems/preset.ts'
import { presetOf } from '../systems/presets.ts'
import { SlotPool } from '../worker/slots/slot-pool.ts'
import { Supervisor } from '../worker/supervisor.ts'
import { readCode } from '../worker/workload-code.ts'
import { loadWorkloads } from '../workload/load.ts'
import { modulesIn } from '../workload/modules-in.ts'
import { answerTo } from './answer.ts'
import { type Invocation, type InvocationAnswer, invocationVersion } from './invocation.ts'
import type { MeasurementStore } from './measurement-store.ts'

export type { Invocation, InvocationAnswer } from './invocation.ts'
export type { Measurement, MeasurementStore } from './measurement-store.ts'

/** What Lambda passes besides the event. */
export interface LambdaContext {
  getRemainingTimeInMillis(): number
}

/** The handler that Lambda calls. */
export type LambdaHandler = (event: Invocation, context?: LambdaContext) => Promise<InvocationAnswer>

/** Options of `createHandler`; the environment of the function has the defaults. */
export interface HandlerOptions {
  /**
   * All that the balancer serves: names of bundled workloads, and paths of modules. Default: PLIMSOLL_WORKLOADS (separated
   * by commas), or else the workloads of the preset, or all bundled ones.
   */
  workloads?: readonly string[]
  /** The only one of them that this function runs. Default: PLIMSOLL_ONLY, or all. */
  only?: string
  /** The preset of the balancer, whose meter must be the same. Default: PLIMSOLL_PRESET, or plimsoll. */
  preset?: string
  /** The meter of the balancer, if that is not the preset's. */
  meter?: MeterSetting
  /** Memory of the function, in MB. Default: as Lambda says. */
  memoryMb?: number
  /** A folder for files of workloads. Default: in the temporary folder, which is the only one that Lambda can write. */
  dataDir?: string
  /** Receives each measurement before the answer is sent. Default: none. */
  store?: MeasurementStore
  /** Ends its processes. Default: they end with this process. */
  signal?: AbortSignal
}

/** Memory of Node and of Lambda's runtime around the job. */
const runtimeMb = 112
const leastMb = 208

const bundled = fileURLToPath(new URL('../../workloads/', import.meta.url))
const compiledEnd = import.meta.url.endsWith('.js') ? '.js' : '.ts'

/** Resolves when the workloads are loaded, so that Lambda's initialisation includes that. Rejects with ConfigError. */
export async function createHandler(options: HandlerOptions = {}): Promise<LambdaHandler> {
  const { env } = process
  const { preset: name = env.PLIMSOLL_PRESET ?? 'plimsoll', only = env.PLIMSOLL_ONLY, store } = options
  const preset = presetOf(name, { timeScale: 1, workScale: 1 })
  const files = filesOf(options.workloads ?? listed(env.PLIMSOLL_WORKLOADS) ?? preset.workloads)
  const meter = options.meter ?? (preset.meter ? ofServed(preset.meter, files) : defaultMeter)
  const memoryMb = options.memoryMb ?? Number(env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE ?? 512)
  if (!(memoryMb >= leastMb)) throw new ConfigError(`memoryMb = ${memoryMb}: must be at least ${leastMb}`)
  // How code is metered depends on all workloads, so that their hashes are those of the balancer.
  const { hashes, limits, metered } = await readCode(files, meter)
  const run = only === undefined ? files : await filesWith(only, files)
  const pool = new SlotPool({
    ...{ files: run, meter, metered, warm: 1, memoryMb: memoryMb - runtimeMb },
    dataDir: options.dataDir ?? join(tmpdir(), 'plimsoll'),
    log: (line) => console.error(line),
  })
  const supervisor = new Supervisor(
    {
      ...{ pool, cores: 1, slots: 1, meter },
      limitMs: (workload) => limits[workload] || Infinity,
      // Progress is not reported: functions have no connection to the brain.
      send: () => {},
    },
    disciplines.fifo,
  )
  await pool.ready()
  options.signal?.addEventListener('abort', () => void pool.close(), { once: true })
  return async (event, context) => {
    checkInvocation(event, hashes, only)
    const leftMs = context?.getRemainingTimeInMillis() ?? Infinity
    return answerTo(supervisor, event, { leftMs, store })
  }
}

let usual: Promise<LambdaHandler> | undefined

/** As `createHandler()`, which is called at the first invocation. */
export const handler: LambdaHandler = async (event, context) => {
  usual ??= createHandler()
  return (await usual)(event, context)
}

/** Work that other code or another meter has counted would mislead estimates. */
function checkInvocation(
  { version, head, code }: Invocation,
  hashes: Readonly<Record<string, string>>,
  only = head.workload,
): void {
  if (version !== invocationVersion)
    throw new ConfigError(
      `invocation.version = ${version}: must be ${invocationVersion}; deploy the function again`,
    )
  const hash = hashes[head.workload]
  if (hash === undefined || head.workload !== only)
    throw new ConfigError(`the function does not run the workload ${head.workload}`)
  if (hash !== code)
    throw new ConfigError(
      `the function has other code of the workload ${head.workload}, or another meter, than the balancer; deploy it again`,
    )
}

function listed(names: string | undefined): string[] | undefined {
  return names?.split(',').map((name) => name.trim())
}

async function filesWith(only: string, files: readonly string[]): Promise<string[]> {
  for (const file of files) if ((await loadWorkloads([file])).some(({ name }) => name === only)) return [file]
  throw new ConfigError(`PLIMSOLL_ONLY = ${only}: no such workload in ${files.join(', ')}`)
}

function filesOf(names: readonly string[] | undefined): string[] {
  if (!names) return modulesIn(bundled)
  if (names.length === 0 || names.includes(''))
    throw new ConfigError(`workloads = ${names.join(',')}: must name at least one, without empty names`)
  return names.map((name) => (/^[\w-]+$/.test(name) ? join(bundled, `${name}${compiledEnd}`) : resolve(name)))
}
