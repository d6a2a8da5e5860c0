/** The answers of kept jobs. */

import type { Content } from '../store/store.ts'
import type { Field } from '../wire/kept.ts'
import type { OpenJob } from './open-jobs.ts'

const mostBytes = 256 * 1024

/**
 * Small answers are read before they are stored, so that they can be stored again if that fails.
 * Resolves with all bytes, or with the rest of a long body behind what was read. Rejects if it breaks off before.
 */
export async function heldAnswer(body: AsyncIterable<Uint8Array>): Promise<Content> {
  const chunks = body[Symbol.asyncIterator]()
  const parts: Uint8Array[] = []
  let bytes = 0
  while (bytes <= mostBytes) {
    const { value, done } = await chunks.next()
    if (done) return Buffer.concat(parts)
    parts.push(value)
    bytes += value.length
  }
  return (async function* () {
    yield* parts
    yield* { [Symbol.asyncIterator]: () => chunks }
  })()
}

/** What is known of a job that has ended, for its document. */
export function factsOf({ tries }: OpenJob, fields: readonly Field[]): Record<string, unknown> {
  const value = (name: string) => fields.find(([each]) => each.toLowerCase() === name)?.[1]
  const [job, work, worker] = ['plimsoll-job', 'plimsoll-work', 'plimsoll-worker'].map(value)
  return {
    attempts: Number(value('plimsoll-attempts') ?? 0),
    sent: tries,
    ...(job !== undefined && { job }),
    ...(work !== undefined && { work: Number(work) }),
    ...(worker !== undefined && { worker }),
  }
}

export function unknownOutcome(): { status: number; fields: Field[]; body: Uint8Array } {
  const detail =
    'The attempt at this job was cut off when a process of the cluster ended. It must not be repeated, and whether it has had an effect is unknown.'
  const problem = { type: 'urn:plimsoll:outcome-unknown', title: 'Bad Gateway', status: 502, detail }
  return {
    status: 502,
    fields: [['content-type', 'application/problem+json']],
    body: Buffer.from(`${JSON.stringify(problem)}\n`),
  }
}

export async function discard(body: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of body);
  } catch {
    // It was to be discarded.
  }
}
