/** Models that come with workloads, so that the first estimate is a good one: `NAME.model.json` beside `NAME.ts`. */

import { isUsable } from './guess.ts'
import type { Model } from './learned/fit.ts'
import { fromText, toText } from './learned/snapshot.ts'

export interface ShippedModel {
  workload: string
  /** Hashes of the code that was measured, in each form in which it is published. */
  code: readonly string[]
  /** Work per millisecond of CPU time on the machine that measured it. */
  workPerMs: number
  model: Model
}

/** Increase with every change of the file's fields. */
const version = 1

/** The text of a model file. */
export function shippedText({ workload, code, workPerMs, model }: ShippedModel): string {
  const digits = (_: string, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(7)) : value
  const fields = { version, workload, code, workPerMs, work: JSON.parse(toText(model)) }
  return `${JSON.stringify(fields, digits)}\n`
}

/** Undefined if the text is not a model file of this version. */
export function readShipped(text: string): ShippedModel | undefined {
  try {
    const { version: written, workload, code, workPerMs, work } = JSON.parse(text) as Record<string, unknown>
    const model = fromText(JSON.stringify(work))
    if (written !== version || !model || typeof workload !== 'string') return undefined
    if (!Array.isArray(code) || !code.every((each) => typeof each === 'string')) return undefined
    return isUsable(Number(workPerMs)) ? { workload, code, workPerMs: Number(workPerMs), model } : undefined
  } catch {
    return undefined
  }
}
