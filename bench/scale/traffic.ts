/** Traffic: days of the World Cup, a seeded daily cycle with a flash crowd, and the Azure traces, if present. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../src/lib/random.ts'
import type { Arrivals } from '../../src/simulate/arrivals.ts'
import type { RunSpec } from '../../src/simulate/simulate.ts'
import { drawnFrom, lognormal, type Sizes } from '../../src/simulate/sizes.ts'
import { partOf } from '../../src/simulate/trace/part.ts'
import { readTrace } from '../../src/simulate/trace/read.ts'
import type { Trace } from '../../src/simulate/trace/trace.ts'
import { trafficOf } from '../../src/simulate/trace/traffic.ts'

const traces = '../shared/traces'
const root = join(import.meta.dirname, '../..')
const files = {
  worldCup: 'worldcup98_minutes.csv.gz',
  functions: 'azure_functions_2019_http_8h_expanded.csv.gz',
  llm: 'AzureLLMInferenceTrace_code.csv.gz',
} as const

export const dayMs = 86_400_000
/** The mean load of every day, in cores. */
export const meanLoad = 8

/** `1998-06-30` and the like are days of the World Cup. */
export type TrafficName = `1998-${string}` | 'daily' | 'functions' | 'llm'

export type Flow = Pick<RunSpec, 'jobs' | 'arrivals' | 'sizes' | 'known'>

export function hasTraces(): boolean {
  return Object.values(files).every((file) => existsSync(join(root, traces, file)))
}

const read = new Map<string, Promise<Trace>>()

function traceOf(file: keyof typeof files): Promise<Trace> {
  let trace = read.get(file)
  if (!trace) {
    trace = readTrace({ option: 'trace', path: join(root, traces, files[file]) })
    read.set(file, trace)
  }
  return trace
}

/** For one run. `hours`: only the first hours of a day, at the same scale. */
export async function flowOf(name: TrafficName, hours = 24): Promise<Flow> {
  if (name === 'daily') {
    const sizes = hasTraces() ? await functionSizes() : lognormal(-2, 2)
    return until({ jobs: Infinity, arrivals: dailyWithCrowd(meanLoad / sizes.meanSeconds), sizes }, hours)
  }
  if (name === 'functions' || name === 'llm') {
    return trafficOf(await traceOf(name), { cores: meanLoad }).run()
  }
  const day = partOf(await traceOf('worldCup'), { from: name, until: nextDay(name) })
  return until(trafficOf(day, { cores: meanLoad, load: 1, sizes: await functionSizes() }).run(), hours)
}

async function functionSizes(): Promise<Sizes> {
  const { recorded } = await traceOf('functions')
  if (recorded.kind !== 'jobs') throw new Error(`${files.functions} holds no durations`)
  return drawnFrom('azure-functions', recorded.seconds)
}

/** Between 0.2 and 1.8 times the mean over the day; at noon the rate rises fourfold within 30 s, for ten minutes. */
function dailyWithCrowd(perSecond: number): Arrivals {
  const [crowdAt, crowdMs, risesMs] = [dayMs / 2, 600_000, 30_000]
  const factor = (at: number) => {
    const since = (at % dayMs) - crowdAt
    const rhythm = 1 - 0.8 * Math.cos((2 * Math.PI * at) / dayMs)
    if (since < 0 || since > crowdMs + risesMs) return rhythm
    return rhythm * (1 + 3 * Math.min(1, since / risesMs, (crowdMs + risesMs - since) / risesMs))
  }
  const most = 7.2
  return {
    name: 'daily',
    next(after, random: Random) {
      let at = after
      do at += (random.exponential() / (perSecond * most)) * 1000
      while (random.next() * most >= factor(at))
      return at
    },
  }
}

function until(flow: Flow, hours: number): Flow {
  const { arrivals } = flow
  const next = (after: number, random: Random) => {
    const at = arrivals.next(after, random)
    return at < (hours / 24) * dayMs ? at : Infinity
  }
  return { ...flow, arrivals: { name: arrivals.name, next } }
}

function nextDay(day: string): string {
  return new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10)
}
