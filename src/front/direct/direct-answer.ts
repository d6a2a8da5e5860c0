/** The answer to a small job, as a front uses it. */

import { ProtocolError } from '../../lib/errors.ts'
import type { Cost } from '../../model/cost.ts'
import { amountOf, type Quantity } from '../../model/metering.ts'
import type { Tally } from '../../model/metrics.ts'
import type { Frame, GiveBackReason } from '../../wire/direct-frames.ts'
import type { FailedAttempt } from '../../wire/messages.ts'
import type { WholeAnswer } from '../../wire/whole-answer.ts'

type Fields = Readonly<Record<string, string | string[]>>

export type DirectAnswer =
  /** `fields`: the workload's own headers, without the length. Answers with equal headers share them. */
  | ({ outcome: 'result'; status: number; fields: Fields; body: Buffer } & DirectCost)
  /** With a status from 400 to 499 the message is for the client. */
  | ({ outcome: 'error'; status: number; message: string; stack?: string | undefined } & DirectCost)
  /** The job must run by the general path. */
  | { outcome: 'given-back'; reason: GiveBackReason }

/** Measured as on the general path; `wallMs` is the time in the slot, `peakMemoryMb` is sampled. */
export type DirectCost = Pick<Cost, 'work' | 'cpuMs' | 'wallMs' | 'peakMemoryMb' | 'tally'>

export function givenBack(reason: GiveBackReason): DirectAnswer {
  return { outcome: 'given-back', reason }
}

/** Headers of answers that are kept, and their length as JSON. */
const mostKept = 200
const longestKept = 1_000

export class FrameAnswers {
  /** Parsed headers by their text: most answers of a workload have the same ones. */
  readonly #kept = new Map<string, Fields>()

  /** Throws a `ProtocolError` if the frame is malformed. */
  read(frame: Frame): DirectAnswer {
    const { outcome, status, reason, fields, tally, body, ...cost } = frame.answer()
    if (outcome === 'given-back') return givenBack(reason)
    if (tally !== '') Object.assign(cost, { tally: parsed(tally) as Tally })
    if (outcome === 'result') return { outcome, status, fields: this.#fields(fields), body, ...cost }
    const { message, stack } = parsed(body.toString()) as FailedAttempt
    return { outcome, status, message, stack, ...cost }
  }

  #fields(text: string): Fields {
    let fields = this.#kept.get(text)
    if (fields) return fields
    fields = Object.freeze(parsed(text)) as Fields
    if (this.#kept.size < mostKept && text.length <= longestKept) this.#kept.set(text, fields)
    return fields
  }
}

/** As the general path receives it: with its length, and with the quantities that answers carry in headers. */
export function wholeAnswer(
  { status, fields, body, tally }: Extract<DirectAnswer, { outcome: 'result' }>,
  quantities: readonly Quantity[] = [],
): WholeAnswer {
  const length = status === 204 || status === 304 ? {} : { 'content-length': `${body.length}` }
  const named = tally ? quantities.map((each) => [each.header, `${Math.round(amountOf(each, tally))}`]) : []
  return { status, fields: { ...fields, ...Object.fromEntries(named), ...length }, body }
}

export function directCost(
  { work, cpuMs, wallMs, peakMemoryMb, tally }: DirectCost,
  quantities: readonly Quantity[] = [],
): Cost {
  return {
    ...{ measure: 'meter', work, cpuMs, wallMs, peakMemoryMb },
    ...(tally && { tally }),
    ...(tally &&
      quantities.length > 0 && {
        quantities: Object.fromEntries(
          quantities.map((each) => [each.name, Math.round(amountOf(each, tally))]),
        ),
      }),
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new ProtocolError('an answer that is not JSON')
  }
}
