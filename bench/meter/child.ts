/** A child process that runs requests of one workload, metered or not, on demand over IPC. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { MeterCase } from './case.ts'
import { type MeterSetup, type RunResult, runnerOf } from './runner.ts'

export interface ChildSetup {
  file: string
  cases: string
  /** Where workloads keep persistent data. */
  dataDir: string
  meter?: MeterSetup
}

export type CaseResult = RunResult

const { file, cases: casesFile, dataDir, meter } = JSON.parse(process.argv[2]!) as ChildSetup
const runner = await runnerOf(file, meter)
const { cases } = (await import(pathToFileURL(resolve(casesFile)).href)) as { cases: MeterCase[] }
const bodies = cases.map(({ body }) => body?.() ?? new Uint8Array())

process.on('message', (index: number) => {
  runner.run({ jobId: 'bench', dataDir, params: cases[index]!.params, body: bodies[index]! }).then(
    (result) => process.send!(result),
    (error: Error) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))
process.send!('ready')
