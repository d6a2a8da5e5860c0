/** What a request asks for: its workload, its parameters and body, and what that is expected to cost. */

import type { IncomingMessage } from 'node:http'
import type { Estimator, Question, Quote } from '../../estimate/estimator.ts'
import type { Questioner } from '../../estimate/question.ts'
import type { BodyLimits } from '../../wire/front-settings.ts'
import type { Workload } from '../../workload/workload.ts'
import { RequestProblem } from '../problem.ts'
import { type KeptBody, keepBody } from './body.ts'
import { isJson, readParameters } from './params.ts'

export interface AskParts {
  workloads: ReadonlyMap<string, Workload>
  question: Questioner
  estimator: Estimator
  limits: BodyLimits
  /** Undefined: all is well. Else why nothing is taken. */
  closed(): RequestProblem | undefined
}

export interface Asked {
  workload: Workload
  /** As the client sent them. */
  params: Record<string, unknown>
  /** As the workload's schema gave them. */
  checked: unknown
  /** The caller's, to be discarded. */
  body: KeptBody
  /** False: the body held parameters, and is not for the workload. */
  sendBody: boolean
  question: Question
  quote: Quote
  estimateMs: number
}

/** Reads a request at `prefix` and the workload's name. Rejects with what is wrong with it; then nothing is kept. */
export async function ask(
  parts: AskParts,
  prefix: string,
  url: URL,
  request: IncomingMessage,
  wanted?: () => void,
): Promise<Asked> {
  const workload = route(parts, prefix, url.pathname, request)
  const closed = parts.closed()
  if (closed) throw closed
  const body = await keepBody(request, parts.limits, wanted)
  try {
    const { raw, checked } = await readParameters(workload, request, url.searchParams, body)
    const began = performance.now()
    const sendBody = !isJson(request)
    const question = parts.question(workload, checked, sendBody ? body : undefined)
    if (parts.estimator.look) await parts.estimator.look(question)
    const quote = parts.estimator.estimate(question)
    const estimateMs = performance.now() - began
    return { workload, params: raw, checked, body, sendBody, question, quote, estimateMs }
  } catch (error) {
    await body.discard()
    throw error
  }
}

function route({ workloads }: AskParts, prefix: string, path: string, request: IncomingMessage): Workload {
  const workload = workloads.get(decodeURIComponent(path).slice(prefix.length))
  if (!workload) {
    const names = [...workloads.keys()].map((name) => `${prefix}${name}`)
    throw new RequestProblem(
      404,
      'unknown-workload',
      `There is no workload at ${path.slice(0, 200)}. There are: ${names.join(', ')}.`,
    )
  }
  allow(request, 'GET', 'HEAD', 'POST')
  return workload
}

/** Refuses other methods. */
export function allow({ method = '' }: IncomingMessage, ...methods: string[]): void {
  if (methods.includes(method)) return
  const listed = methods.join(', ')
  throw new RequestProblem(405, 'wrong-method', `${method} is not allowed here; these are: ${listed}.`, {
    headers: { allow: listed },
  })
}
