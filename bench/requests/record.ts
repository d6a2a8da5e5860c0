/** Runs requests of a workload's stream in a slot, metered as a preset meters them, and describes them for the simulator. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { stream } from '../../src/lib/random.ts'
import { defaultMeter } from '../../src/meter/hooks.ts'
import { amountOf, quantitiesIn } from '../../src/model/metering.ts'
import type { RecordedRequest } from '../../src/simulate/recorded/recording.ts'
import { presetOf } from '../../src/systems/presets.ts'
import { SlotPool } from '../../src/worker/slots/slot-pool.ts'
import { readCode } from '../../src/worker/workload-code.ts'
import { loadWorkloads } from '../../src/workload/load.ts'
import type { Workload } from '../../src/workload/workload.ts'
import { featuresOf } from '../estimate/row.ts'
import type { Request, Stream, StreamName } from '../estimate/stream.ts'
import { validParams } from '../meter/runner.ts'

/** Differs from the seeds of the benchmarks and of the models that come with the workloads. */
export const seed = 167

/** The systems whose workloads are recorded. */
export const recordedPresets = ['cloudprime', 'tiered', 'cnv', 'hillclimbing', 'ecowork'] as const

const memoryMb = 1024

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Runs the workloads of a preset. */
export interface Recorder {
  readonly workloads: readonly StreamName[]
  /** Of the code and how it is metered. */
  hashOf(workload: string): string
  /** The requests of the stream with these numbers, counted from 0; of all of them, in the stream's order. */
  run(name: StreamName, numbers: readonly number[]): Promise<RecordedRequest[]>
  close(): Promise<void>
}

export async function recorderOf(preset: string): Promise<Recorder> {
  const { meter = defaultMeter, workloads: names = [] } = presetOf(preset)
  const files = names.map((name) => at(`../../workloads/${name}.ts`))
  const { hashes, limits: _, ...code } = await readCode(files, meter)
  const workloads = new Map((await loadWorkloads(files)).map((each) => [each.name, each]))
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-requests-'))
  const pool = new SlotPool({ files, dataDir, warm: 1, memoryMb, meter, ...code, log: console.error })
  await pool.ready()
  let jobs = 0

  async function record(workload: Workload, request: Request): Promise<RecordedRequest> {
    const { params: asked, body } = request
    const params = await validParams(workload, asked)
    const job = { job: `r${++jobs}`, attempt: 1, workload: workload.name, params: asked }
    const started = pool.start({ ...job, ...(body && { body: Readable.from([body]) }) })
    const answer = await started.answer
    if (answer.kind === 'result') answer.body.resume()
    else if (answer.kind !== 'error' || !isRefusal(answer.status))
      throw new Error(`${workload.name} ${JSON.stringify(asked)}: ${JSON.stringify(answer)}`)
    const { work, tally } = await started.ended
    const quantities = quantitiesIn(meter).map((each) => [each.name, amountOf(each, tally ?? {})] as const)
    return {
      params: params as Record<string, unknown>,
      features: featuresOf(workload, params, body ?? new Uint8Array()),
      work: Math.round(work ?? 0),
      ...(quantities.length > 0 && { quantities: Object.fromEntries(quantities) }),
    }
  }

  return {
    workloads: names as readonly StreamName[],
    hashOf: (workload) => hashes[workload]!,
    async run(name, numbers) {
      const { sample } = (await import(at(`../estimate/streams/${name}.ts`))) as Stream
      const random = stream(seed, `requests of ${name}`)
      const wanted = new Set(numbers)
      const recorded: RecordedRequest[] = []
      for (let i = 0; i <= Math.max(...numbers); i++) {
        const request = sample(random)
        if (wanted.has(i)) recorded.push(await record(workloads.get(name)!, request))
      }
      return recorded
    },
    async close() {
      await pool.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** The workload's answer to a request that it cannot serve, such as for a product that does not exist. */
function isRefusal(status = 500): boolean {
  return status < 500
}
