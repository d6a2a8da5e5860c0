/** Turns a request into the question that estimators answer and later learn from. */

import { hash } from 'node:crypto'
import type { BodyFacts, Workload } from '../workload/workload.ts'
import { canonical } from './canonical.ts'
import type { Question } from './estimator.ts'
import { featuresOf } from './features.ts'

/** Longer keys are replaced by their hash. */
const longestKey = 512

const noBody: BodyFacts = { bytes: 0, head: new Uint8Array() }

export interface QuestionParts {
  /** Hashes of code, by workload. */
  code: Readonly<Record<string, string>>
  log(line: string): void
}

/** `params` are as parsed by the workload's schema. */
export type Questioner = (workload: Workload, params: unknown, body?: BodyFacts) => Question

export function questioner({ code, log }: QuestionParts): Questioner {
  const reported = new Set<string>()
  let withoutKey = 0

  /** Parameters without canonical text each get a unique key. */
  function keyOf(params: unknown): string {
    try {
      return canonical(params)
    } catch {
      return `?${withoutKey++}`
    }
  }

  return (workload, params, body = noBody) => {
    const { name } = workload
    const features = featuresOf(workload, params, body, (why) => {
      if (reported.has(name)) return
      reported.add(name)
      log(`workload ${name}: automatic features are used because its features() is invalid: ${why}`)
    })
    const text = keyOf(params)
    const short = text.length > longestKey ? `#${hash('sha256', text, 'base64url')}` : text
    const key = body.bytes > 0 ? `${short} ${body.bytes} ${hash('sha256', body.head, 'base64url')}` : short
    return { workload: name, codeHash: code[name] ?? '', key, params, features }
  }
}
