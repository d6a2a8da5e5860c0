/** What is measured of one request, and what is known of it before it runs. */
import { createHash } from 'node:crypto'
import { featuresOf as features } from '../../src/estimate/features.ts'
import type { Features } from '../../src/model/estimate.ts'
import type { Workload } from '../../src/workload/workload.ts'

export interface Row {
  /** As the workload's schema gave them. */
  params: unknown
  features: Features
  /** The same for equal requests only: parameters and body. */
  key: string
  work: number
  cpuMs: number
  bodyBytes: number
}

/** As much of a body as an estimate may look at. */
const headBytes = 64 * 1024

export function featuresOf(workload: Workload, params: unknown, body: Uint8Array): Features {
  return features(workload, params, { bytes: body.length, head: body.subarray(0, headBytes) })
}

export function keyOf(params: unknown, body: Uint8Array): string {
  const digest = body.length > 0 ? createHash('sha1').update(body).digest('hex') : ''
  return JSON.stringify(params) + digest
}
