/** Thread that reads parameters, one request at a time. It imports the workloads itself. */

import { hash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { questioner } from '../../estimate/question.ts'
import { loadWorkloads } from '../../workload/workload.ts'
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

const { files, code } = workerData as ThreadData
const answer = (message: ThreadAnswer) => parentPort!.postMessage(message)
const workloads = new Map((await loadWorkloads(files)).map((workload) => [workload.name, workload]))
const ask = questioner({ code, log: (log) => answer({ log }) })

parentPort!.on('message', async ({ workload, given, keep }: ThreadCall) => {
  try {
    const before = process.threadCpuUsage()
    const read = await readParams(workloads.get(workload)!, given, ask)
    answerKept(keep ? read : withoutParams(read, given), cpuMsSince(before))
  } catch (error) {
    if (error instanceof BadParams) {
      const { code, message, fields } = error
      answer({ bad: { code, message, fields } })
    } else answer({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
answer({ ready: true })

/** What a schema returns may not be cloneable, such as an object with methods. */
function answerKept(read: ReadParams, ms: number): void {
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
