/** One call to the thread that reads parameters, and its answers. */

import { hash } from 'node:crypto'
import type { Questioner } from '../../estimate/question.ts'
import type { Workload } from '../../workload/workload.ts'
import { BadParams, cpuMsSince, type GivenParams, type ReadParams, readParams } from './params.ts'

export interface ThreadData {
  files: string[]
  /** Hashes of code, by workload. */
  code: Readonly<Record<string, string>>
}

export interface ThreadCall {
  workload: string
  given: GivenParams
  /** True: parameters are returned with what was derived from them. */
  keep: boolean
}

export type ThreadAnswer =
  /** The workloads are loaded. */
  | { ready: true }
  /** `ms`: CPU time of the check. */
  | { read: ReadParams; ms: number }
  | { bad: Pick<BadParams, 'code' | 'message' | 'fields'> }
  /** The stack of an error of a workload's function. */
  | { failed: string }
  | { log: string }

export interface CallParts {
  workloads: ReadonlyMap<string, Workload>
  ask: Questioner
  answer(message: ThreadAnswer): void
}

/** Reads the parameters and answers once. Never rejects. */
export async function serveCall(
  { workloads, ask, answer }: CallParts,
  { workload, given, keep }: ThreadCall,
): Promise<void> {
  try {
    const before = process.threadCpuUsage()
    const read = await readParams(workloads.get(workload)!, given, ask)
    answerKept(answer, keep ? read : withoutParams(read, given), cpuMsSince(before))
  } catch (error) {
    if (error instanceof BadParams) {
      const { code, message, fields } = error
      answer({ bad: { code, message, fields } })
    } else answer({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

/** What a schema returns may not be cloneable, such as an object with methods. */
function answerKept(answer: CallParts['answer'], read: ReadParams, ms: number): void {
  try {
    answer({ read, ms })
  } catch {
    answer({ ms, read: { ...read, question: { ...read.question, params: read.raw } } })
  }
}

/** Long parameters stay here: only estimators that look at features can use them. */
function withoutParams(read: ReadParams, { query, json }: GivenParams): ReadParams {
  const text = json ? `${query}\n${json}` : query
  // As the ledger stores parameters that are too long for it.
  const raw = { sha256: hash('sha256', text, 'base64url'), characters: text.length }
  return { ...read, raw, isKept: false, question: { ...read.question, params: {} } }
}
