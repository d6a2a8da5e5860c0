/** Runs requests of one workload in a process of its own, metered or not, as the benchmark asks over IPC. */
import { createHash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { meterModules } from '../../src/meter/hooks.ts'
import type { MeterRuntime } from '../../src/meter/runtime.ts'
import { toAnswer } from '../../src/worker/answer.ts'
import type { JobContext, Workload } from '../../src/workload.ts'
import type { MeterCase } from './case.ts'

export interface ChildSetup {
  file: string
  cases: string
  meter?: { mode: 'work' | 'regions' | 'routines'; formula: Record<string, number>; packages: string[] }
}

export interface CaseResult {
  cpuMs: number
  work: number
  /** What the answer was. */
  digest: string
}

const { file, cases: casesFile, meter } = JSON.parse(process.argv[2]!) as ChildSetup
let runtime: MeterRuntime | undefined
if (meter) runtime = meterModules({ ...meter, folders: [dirname(resolve(file))] })
const { default: workload } = (await import(pathToFileURL(resolve(file)).href)) as { default: Workload }
const { cases } = (await import(pathToFileURL(resolve(casesFile)).href)) as { cases: MeterCase[] }
const bodies = cases.map(({ body }) => body?.() ?? new Uint8Array())

async function run(index: number): Promise<CaseResult> {
  const outcome = await workload.params!['~standard'].validate(cases[index]!.params)
  if (outcome.issues) throw new Error(JSON.stringify(outcome.issues))
  const context = contextOf(bodies[index]!)
  const before = process.cpuUsage()
  runtime?.begin()
  const { body } = await toAnswer(await workload.run(outcome.value, context))
  const work = runtime?.work() ?? 0
  const { user, system } = process.cpuUsage(before)
  const hash = createHash('sha256')
  for await (const bytes of body instanceof Uint8Array ? [body] : body) hash.update(bytes)
  return { cpuMs: (user + system) / 1000, work, digest: hash.digest('hex') }
}

function contextOf(body: Uint8Array): JobContext {
  async function* chunks() {
    yield body
  }
  return {
    jobId: 'bench',
    attempt: 1,
    dataDir: process.env.TMPDIR ?? '/tmp',
    body: Object.assign(chunks(), { bytes: async () => body }),
    progress: () => {},
    uninterrupted: async (fn) => await fn(),
    charge: (units) => runtime?.charge(units),
    log: () => {},
  }
}

process.on('message', (index: number) => {
  run(index).then(
    (result) => process.send!(result),
    (error: Error) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))
process.send!('ready')
