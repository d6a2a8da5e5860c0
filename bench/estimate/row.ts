/** The measurements of one request, and the facts known before it runs. */
import { createHash } from 'node:crypto'
import { featuresOf as features } from '../../src/estimate/features.ts'
import type { Features } from '../../src/model/estimate.ts'
import type { Workload } from '../../src/workload/workload.ts'

export interface Row {
  /** As returned by the workload's schema. */
  params: unknown
  features: Features
  /** Identifies equal requests, by parameters and body. */
  key: string
  work: number
  cpuMs: number
  bodyBytes: number
}

/** The part of a body that an estimate may use. */
const headBytes = 64 * 1024

export function featuresOf(workload: Workload, params: unknown, body: Uint8Array): Features {
  return features(workload, params, { bytes: body.length, head: body.subarray(0, headBytes) })
}

export function keyOf(params: unknown, body: Uint8Array): string {
  const digest = body.length > 0 ? createHash('sha1').update(body).digest('hex') : ''
  return JSON.stringify(params) + digest
}
