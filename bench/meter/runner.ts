/** Runs and times requests of one workload in this process, metered or not. */
import { createHash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { meterModules } from '../../src/meter/hooks.ts'
import { toAnswer } from '../../src/worker/slot-process/answer.ts'
import type { JobContext, Workload } from '../../src/workload/workload.ts'

export interface MeterSetup {
  mode: 'work' | 'regions' | 'routines'
  formula: Record<string, number>
  packages: string[]
}

export interface RunRequest {
  jobId: string
  dataDir: string
  /** As a client sends them. */
  params: unknown
  body: Uint8Array
}

export interface RunResult {
  cpuMs: number
  work: number
  /** Of the answer. */
  digest: string
}

export interface Runner {
  workload: Workload
  run(request: RunRequest): Promise<RunResult>
}

/** Call it before any module of the workload's folder is imported: modules already loaded are not metered. */
export async function runnerOf(file: string, meter?: MeterSetup): Promise<Runner> {
  const runtime = meter && meterModules({ ...meter, folders: [dirname(resolve(file))] })
  const { default: workload } = (await import(pathToFileURL(resolve(file)).href)) as { default: Workload }
  return {
    workload,
    async run({ jobId, dataDir, params, body: bytes }) {
      const valid = await validParams(workload, params)
      const context = contextOf(jobId, dataDir, bytes, (units) => runtime?.charge(units))
      const before = process.cpuUsage()
      runtime?.begin()
      const { body } = await toAnswer(await workload.run(valid, context))
      const work = runtime?.work() ?? 0
      const { user, system } = process.cpuUsage(before)
      const hash = createHash('sha256')
      for await (const bytes of body instanceof Uint8Array ? [body] : body) hash.update(bytes)
      return { cpuMs: (user + system) / 1000, work, digest: hash.digest('hex') }
    },
  }
}

/** The parameters as the workload receives them. */
export async function validParams(workload: Workload, params: unknown): Promise<unknown> {
  const outcome = await workload.params!['~standard'].validate(params)
  if (outcome.issues) throw new Error(`${workload.name}: ${JSON.stringify(outcome.issues)}`)
  return outcome.value
}

function contextOf(
  jobId: string,
  dataDir: string,
  body: Uint8Array,
  charge: (units: number) => void,
): JobContext {
  async function* chunks() {
    yield body
  }
  return {
    jobId,
    attempt: 1,
    dataDir,
    body: Object.assign(chunks(), { bytes: async () => body }),
    progress: () => {},
    uninterrupted: async (fn) => await fn(),
    charge,
    steps: () => {},
    log: () => {},
  }
}
