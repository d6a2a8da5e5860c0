/** Runs one suite in this process, metered or not, and prints digests of its outputs. */
import { createHash } from 'node:crypto'
import { serialize } from 'node:v8'
import { type MeterOptions, meterModules } from '../../../src/meter/hooks.ts'
import type { MeterMode } from '../../../src/model/metering.ts'
import { defaultFormula } from '../../../src/model/metrics.ts'
import { suites } from './suites.ts'

export interface ChildTask {
  suite: string
  /** Undefined: not metered. */
  mode?: MeterMode
}

export interface ChildResult {
  digests: Record<string, string>
  modules: number
  lines: number
  /** Modules that the meter did not rewrite. */
  unmetered: string[]
  work: number
  /** In mode `regions`. */
  regions: number
  regionsRun: number
  ms: number
}

const { suite: name, mode } = JSON.parse(process.argv[2]!) as ChildTask
const suite = suites.find((it) => it.name === name)!
const result: ChildResult = {
  digests: {},
  modules: 0,
  lines: 0,
  unmetered: [],
  work: 0,
  regions: 0,
  regionsRun: 0,
  ms: 0,
}

const options: MeterOptions | undefined = mode && {
  mode,
  formula: defaultFormula,
  folders: [],
  packages: suite.packages,
}
const runtime =
  options &&
  meterModules(options, ({ url, source, metered }) => {
    if (!metered) return void result.unmetered.push(url)
    result.modules++
    result.lines += source.split('\n').length
  })
runtime?.begin()
const startedAt = performance.now()
await suite.run((name, value) => {
  const bytes = typeof value === 'string' || value instanceof Uint8Array ? value : serialize(value)
  result.digests[name] = createHash('sha256').update(bytes).digest('hex')
})
result.ms = Math.round(performance.now() - startedAt)
if (runtime) {
  result.work = Math.round(runtime.work())
  const counts = runtime.counts(0, Number.POSITIVE_INFINITY)
  result.regions = counts.length
  result.regionsRun = counts.filter((count) => count > 0).length
}
process.stdout.write(JSON.stringify(result))
