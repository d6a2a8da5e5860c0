/**
 * Measures the ready workloads and writes the models that come with them: `workloads/NAME.model.json`. Run it after a
 * change of a workload or of the meter: `npm run -s models`, or with names of workloads.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fitModel } from '../src/estimate/learned/fit.ts'
import { read } from '../src/estimate/reading.ts'
import { shippedText } from '../src/estimate/shipped-model.ts'
import { modelFile } from '../src/live/shipped-models.ts'
import { defaultMeter } from '../src/meter/hooks.ts'
import { readCode } from '../src/worker/workload-code.ts'
import { measureAll, type Row, type StreamName, streamNames } from './estimate/measure.ts'

/** Differs from the seeds of all benchmarks, which therefore send other requests. */
const seed = 77
const count = 400
/** Largest number of inducing points: a smaller file than that of a cluster's own models. */
const posts = 96

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !streamNames.includes(name as StreamName))
if (unknown.length > 0) {
  console.error(
    `models: there is no ready workload ${unknown.join(', ')}; there are ${streamNames.join(', ')}`,
  )
  process.exit(2)
}
const names = asked.length > 0 ? (asked as StreamName[]) : streamNames

for (const [name, rows] of await measureAll(names, seed, count)) {
  const file = fileURLToPath(new URL(`../workloads/${name}.ts`, import.meta.url))
  const text = await modelOf(name, file, rows)
  writeFileSync(modelFile(file), text)
  console.log(`${modelFile(file)}: ${rows.length} requests, ${text.length} characters`)
}

async function modelOf(name: string, file: string, rows: readonly Row[]): Promise<string> {
  const usable = rows.filter(({ work }) => work > 0)
  const fitRows = usable.map(({ features, work }) => ({
    reading: read(features),
    log: Math.log(work),
    doubt: 1,
  }))
  const model = fitModel(fitRows, { posts })
  if (!model) throw new Error(`${name}: no model fits ${usable.length} requests`)
  const sum = (value: (row: Row) => number) => usable.reduce((total, row) => total + value(row), 0)
  const workPerMs = Math.round(sum(({ work }) => work) / sum(({ cpuMs }) => cpuMs))
  const code = [(await readCode([file], defaultMeter)).hashes[name]!]
  return shippedText({ workload: name, code, workPerMs, model })
}
