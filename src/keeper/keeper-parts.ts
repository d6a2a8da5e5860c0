/** What a keeper is made of, and what it says of a request that it keeps. */

import type { JobStore, Retention } from '../store/store.ts'
import type { QuotaLimits } from './quota.ts'
import type { sendJob } from './send-job.ts'

export interface KeeperParts {
  store: JobStore
  epoch: number
  /** Ports of fronts for the keeper. */
  fronts(): readonly number[]
  /** Proves the keeper to fronts. */
  token: string
  /** How many jobs the cluster is given at a time; the others wait here. */
  most: number
  /** Of open jobs. */
  limits: QuotaLimits
  /** Cores of the cluster. */
  cores(): number
  retention: Retention
  /** Milliseconds since 1970. */
  now(): number
  /** From 0 to 1. */
  random(): number
  log(line: string): void
  /** Another keeper leads now: this one must end. */
  fenced(): void
  /** False: the lease could not be renewed in time, so that another keeper may lead. No jobs are sent then. */
  leads?(): boolean
  send?: typeof sendJob
}

export interface Kept {
  id: string
  /** Resolves when the job has an answer or is cancelled. */
  ended(): Promise<void>
  /** When it is expected to have ended, if anything was known when it was accepted. */
  endsAt: number | undefined
  /** True: an earlier request with the same key is this job. */
  isRepeat: boolean
}
