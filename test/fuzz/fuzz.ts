/** Feeds inputs to a target in this process. The same seed gives the same inputs unless coverage guides the choice. */

import { stream } from '../../src/lib/random.ts'
import { chance } from './draw.ts'
import type { Guide } from './guide.ts'
import type { Entry } from './journal.ts'
import { mutated } from './mutate.ts'
import type { OpenTarget, Target } from './target.ts'

export interface Plan {
  seed: number
  /** The number of the first input. */
  from: number
  /** The number after the last input; Infinity: until the time is over. */
  to: number
  /** From the start of the loop; Infinity: no limit. */
  ms: number
}

export interface Failure extends Entry {
  kind: 'crash' | 'hang'
  message: string
}

export interface Tally {
  inputs: number
  /** Inputs by what happened to them. */
  behaviours: Record<string, number>
  /** Inputs that reached new code. */
  reaching: Buffer[]
  slowestMs: number
}

export interface Observer {
  guide?: Guide | undefined
  before(entry: Entry): void
  failed(failure: Failure): void
  /** Called a few times during the run. */
  rested?(done: number): void
}

/** Inputs between two readings of the coverage: fewer while there is much to find. */
const fewestInBatch = 50
const mostInBatch = 1_600
/** Inputs between two calls of `rested`. */
const restEvery = 100
/** Part of the inputs that a grammar makes, where there is one. */
const generatedPart = 0.4

export async function fuzz(
  target: Target,
  opened: OpenTarget,
  corpus: readonly Buffer[],
  plan: Plan,
  observer: Observer,
): Promise<Tally> {
  const pool = corpus.length > 0 ? [...corpus] : [Buffer.alloc(0)]
  const tally: Tally = { inputs: 0, behaviours: {}, reaching: [], slowestMs: 0 }
  const began = performance.now()
  observer.guide?.reached()
  let batch: Buffer[] = []
  let batchInputs = fewestInBatch
  for (let number = plan.from; number < plan.to && performance.now() - began < plan.ms; number++) {
    const input = inputOf(target, pool, plan.seed, number)
    await feed(target, opened, { number, input }, tally, observer)
    if (observer.guide) batch.push(input)
    if (batch.length >= batchInputs) {
      const isNew = observer.guide!.peek()
      const found = isNew ? await reaching(target, opened, batch, observer.guide!) : []
      pool.push(...found)
      tally.reaching.push(...found)
      batch = []
      batchInputs = Math.min(mostInBatch, isNew ? fewestInBatch : 2 * batchInputs)
    }
    if (tally.inputs % restEvery === 0) observer.rested?.(tally.inputs)
  }
  return tally
}

export function inputOf(target: Target, pool: readonly Buffer[], seed: number, number: number): Buffer {
  const random = stream(seed, `${target.name} ${number}`)
  const isGenerated = target.generate && chance(random, generatedPart)
  const made = isGenerated ? target.generate!(random) : undefined
  // Generated inputs are mutated too, half of the time.
  const bases = made ? [made] : pool
  if (made && chance(random, 0.5)) return made.subarray(0, target.maxBytes)
  return mutated(random, bases, target.words ?? [], target.maxBytes)
}

async function feed(
  target: Target,
  opened: OpenTarget,
  entry: Entry,
  tally: Tally,
  observer: Observer,
): Promise<void> {
  observer.before(entry)
  const cpu = process.cpuUsage()
  let happened: string
  try {
    happened = await opened.run(entry.input)
  } catch (error) {
    const declared = target.declared(error)
    if (declared === undefined) observer.failed({ ...entry, kind: 'crash', message: textOfError(error) })
    happened = declared ?? 'crash'
  }
  const { user, system } = process.cpuUsage(cpu)
  const ms = (user + system) / 1000
  if (ms > target.cpuMs)
    observer.failed({ ...entry, kind: 'hang', message: `took ${Math.round(ms)} ms of CPU time` })
  tally.slowestMs = Math.max(tally.slowestMs, ms)
  tally.behaviours[happened] = (tally.behaviours[happened] ?? 0) + 1
  tally.inputs++
}

/** The inputs that reach new code, found by halving: each reading of the coverage takes milliseconds. */
async function reaching(
  target: Target,
  opened: OpenTarget,
  inputs: readonly Buffer[],
  guide: Guide,
): Promise<Buffer[]> {
  for (const input of inputs) {
    try {
      await opened.run(input)
    } catch (error) {
      // Bugs have been reported.
      if (target.declared(error) === undefined) continue
    }
  }
  if (inputs.length <= 1) return guide.reached() ? [...inputs] : []
  if (!guide.peek()) return []
  const middle = inputs.length >> 1
  return [
    ...(await reaching(target, opened, inputs.slice(0, middle), guide)),
    ...(await reaching(target, opened, inputs.slice(middle), guide)),
  ]
}

export function textOfError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : `threw ${String(error)}`
}
