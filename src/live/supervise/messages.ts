/** The messages between the brain's process and the one that supervises it and runs fronts and workers. */

import type { KeeperPlace } from '../../wire/kept.ts'
import type { Tokens } from '../../wire/token.ts'
import type { RunningWorker, WorkerStart } from '../fleet/worker-processes.ts'
import type { FrontSettings } from '../fronts/front-channel.ts'
import type { FrontStep } from '../fronts/front-processes.ts'
import type { KeeperSettings } from '../keeper/messages.ts'
import type { KeptVersion } from '../version.ts'

/** What a brain that is started again must have in common with the one before, for its fronts. */
export interface BrainMemory {
  /** Brains so far. */
  brains: number
  adminPort: number
  version: KeptVersion
}

export type ToBrain =
  /** The first message. Without a memory, it is the first brain. `workers`: the workers that the brain before launched. */
  | {
      type: 'begin'
      epoch: number
      tokens: Partial<Tokens>
      memory?: BrainMemory
      workers: readonly RunningWorker[]
      /** The cluster leads others with the same store. */
      leads: boolean
    }
  /** It leads from now on, with tokens of this epoch; without one, no more. */
  | { type: 'leads'; epoch?: number }
  /** The public port is open. `fronts`: the fronts that run. */
  | { type: 'opened'; port: number; fronts: readonly string[] }
  /** The public port cannot be opened, or no front starts. */
  | { type: 'failed'; message: string }
  /** All fronts listen, or their first start has failed. */
  | { type: 'listening' }
  | { type: 'started' | 'gone'; front: string }
  | { type: 'rolled'; step: FrontStep }
  | { type: 'roll-ended'; error?: string }
  /** All fronts have ended. */
  | { type: 'closed' }
  | { type: 'launch-failed'; launch: string; message: string; output?: string }
  | { type: 'worker-gone'; launch: string; message: string }
  /** Where the keeper is; without a place, there is none. */
  | { type: 'keeper'; place?: KeeperPlace }
  /** The workers that run, as an answer to this request. */
  | { type: 'workers'; ask: number; workers: readonly RunningWorker[] }
  /** All workers have ended. */
  | { type: 'workers-closed' }

export interface OpenRequest {
  port: number
  host: string
  /** Number of fronts. */
  count: number
  drainMs: number
  settings: FrontSettings
  memory: BrainMemory
  /** Undefined: requests are not kept. */
  keeper?: KeeperSettings
}

export type FromBrain =
  /** Opens the public port. A brain that is started again finds it open. */
  | ({ type: 'open' } & OpenRequest)
  /** Fronts start with these settings from now on, and the next brain with this memory. */
  | { type: 'renew'; settings: FrontSettings; memory: BrainMemory }
  /** It handles signals. */
  | { type: 'serving' }
  | { type: 'roll' }
  /** A front of another machine has a request that is to be kept. */
  | { type: 'want-keeper' }
  | { type: 'close'; graceMs: number }
  /** These are the methods of a provider of workers. */
  | { type: 'launch'; launch: string; start: WorkerStart }
  | { type: 'worker-joined'; launch: string }
  | { type: 'terminate'; launch: string; graceMs: number }
  | { type: 'list-workers'; ask: number }
  | { type: 'close-workers'; graceMs?: number }
