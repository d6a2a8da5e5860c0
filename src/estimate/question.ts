/** Makes of a request the question that estimators are asked, and later told the answer to. */

import { hash } from 'node:crypto'
import type { BodyFacts, Workload } from '../workload/workload.ts'
import { canonical } from './canonical.ts'
import type { Question } from './estimator.ts'
import { featuresOf } from './features.ts'

/** A longer key is given by its hash. */
const longestKey = 512

const nothing: BodyFacts = { bytes: 0, head: new Uint8Array() }

export interface QuestionParts {
  /** Hashes of code, by workload. */
  code: Readonly<Record<string, string>>
  log(line: string): void
}

/** Params are as the workload's schema gave them; without a body the request has none but parameters. */
export type Questioner = (workload: Workload, params: unknown, body?: BodyFacts) => Question

export function questioner({ code, log }: QuestionParts): Questioner {
  const troubled = new Set<string>()
  let odd = 0

  /** Parameters that cannot be told apart are never taken for equal. */
  function keyOf(params: unknown): string {
    try {
      return canonical(params)
    } catch {
      return `?${odd++}`
    }
  }

  return (workload, params, body = nothing) => {
    const { name } = workload
    const features = featuresOf(workload, params, body, (why) => {
      if (troubled.has(name)) return
      troubled.add(name)
      log(`workload ${name}: its features cannot be used, so automatic ones are: ${why}`)
    })
    const text = keyOf(params)
    const short = text.length > longestKey ? `#${hash('sha256', text, 'base64url')}` : text
    const key = body.bytes > 0 ? `${short} ${body.bytes} ${hash('sha256', body.head, 'base64url')}` : short
    return { workload: name, codeHash: code[name] ?? '', key, params, features }
  }
}
