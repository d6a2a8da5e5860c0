/** What the brain delegates to fronts, and what they tell it about it afterwards. */

import type { Cost } from '../model/cost.ts'
import type { Features } from '../model/estimate.ts'
import type { OpenPrograms } from './programs.ts'

/**
 * Requests to these workloads or routes are so small that fronts send them to these workers without asking the brain.
 * Each order replaces the one before.
 */
export interface DirectOrder {
  /** Grows with each order. 0: nothing was ever delegated. */
  seq: number
  names: string[]
  workers: DirectWorker[]
}

export interface DirectWorker {
  id: string
  /** Of an existing server. Undefined: workloads. */
  programs?: OpenPrograms
}

/** A front's answer to an order, and sent again when `workers` changes. */
export interface DirectStanding {
  /** Of the last order that it follows. */
  seq: number
  /** Workers to which it sends no more requests, and where it still has some in progress. */
  workers: string[]
}

/** Requests on the direct path since the last report. */
export interface DirectReport {
  counts: DirectCount[]
  /** A sample of them. */
  rows: DirectRow[]
}

export interface DirectCount {
  name: string
  worker: string
  /** Answered. */
  answered: number
  /** Tried here, and then handed to the general path. */
  givenBack: number
  work: number
  /** Time of all of them, and of the longest, which may still be in progress. */
  totalMs: number
  longestMs: number
}

export interface DirectRow {
  job: string
  name: string
  worker: string
  key: string
  features: Features
  params: Record<string, unknown>
  startedAt: number
  cost: Cost
}
