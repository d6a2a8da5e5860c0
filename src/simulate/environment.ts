/** What the parts of a simulation see of the world around them. `World` implements it. */

import type { Brain } from '../brain/brain.ts'
import type { Action } from '../model/action.ts'
import type { AttemptToken } from '../model/attempt.ts'
import type { Event } from '../model/event.ts'
import type { Job } from '../model/job.ts'
import type { BrainSpec } from '../systems/brain-spec.ts'
import type { VirtualClock } from './clock.ts'

/** The workers that the provider launches. */
export interface FleetSpec {
  cores: number
  workPerSecond: number
  memoryMb: number
  slots: number
  bootMs: number
  /** A job that finds no slot started needs this much CPU time first. Default: slots start at no cost. */
  slotStart?: { ms: number; warm: number }
}

/** The facts about a job that the brain does not know. */
export interface Truth {
  job: Job
  size: number
  arrivedAt: number
  /** How its attempts end. */
  fate: 'ends' | 'errs' | 'crashes-slot' | 'crashes-worker'
  /** Its attempts wait for input or output, after this part of their work. */
  wait?: { part: number; ms: number }
}

/** Sees every event and the actions that follow. */
export interface Observer {
  /** The event has reached the brain's process, which may not run now and then reads it later. */
  arrived?(event: Event, now: number): void
  observe(event: Event, actions: readonly Action[], now: number, brain: Brain): void
  /** Another brain has taken over, which knows nothing yet. */
  replaced?(): void
  /** A front has answered this job with a result that no brain knows. */
  answeredByFront?(job: string): void
}

export type LaunchFate = 'comes' | 'fails' | 'hangs' | 'twice' | 'twin-hangs' | 'dies' | 'late'
export type FunctionFate = 'works' | 'throttles' | 'errs' | 'dies' | 'hangs'

/** Faults, drawn when the parts ask for them. */
export interface FaultDraws {
  /** The delays of the copies of a message that arrive: none, one or two. */
  message(): number[]
  function(): FunctionFate
  /** True: the machine of a dead process rejects connections. False: nothing comes back. */
  refuses(): boolean
  /** True: the death of a process is noticed at once. False: by its missed heartbeats. */
  noticesDeath(): boolean
  /** An attempt that may start only once has started. */
  started(token: AttemptToken): void
  readonly provider: {
    launch(): LaunchFate
    /** The share of its boot time after which a launch dies. */
    part(): number
    tellsFailure(): boolean
  }
}

/** A worker process, as faults and the provider see it. */
export interface Process {
  readonly id: string
  readonly launch: string
  readonly alive: boolean
  readonly frozen: boolean
  readonly worker: {
    readonly jobs: readonly unknown[]
    readonly wasSlow: boolean
    setSpeed(speed: number): void
  }
  /** Its brain has died; it joins the next one at this time. */
  loseBrain(joinsAt: number): void
  /** Idempotent. */
  die(): void
  freeze(): void
  thaw(): void
  /** True: it fails every attempt at once. */
  broken: boolean
  /** A request has arrived at this front. */
  requestArrived(): void
}

export interface Environment {
  readonly clock: VirtualClock
  readonly parts: {
    readonly brain: BrainSpec
    readonly fleet: FleetSpec
    readonly faults?: FaultDraws
  }
  readonly nodes: Map<string, Process>
  readonly truths: ReadonlyMap<string, Truth>
  /** Workers that are given no more jobs. */
  readonly draining: Set<string>
  readonly provider: {
    died(node: Process): void
    /** Launches of all machines that exist. */
    list(): string[]
    /** Starts a machine that nobody launched; it joins, or never does. */
    stray(joins: boolean): void
  }
  readonly fronts: { add(node: Process): void; gone(node: Process): void }
  /** The brain's process, which can be stopped. */
  readonly process: { readonly frozen: boolean; freeze(): void; thaw(): void }
  /** Cores that run a job. */
  busyCores: number
  /** Starts a worker process, which joins. */
  boot(launch: string, id: string): Process
  /** Hands an event to the brain and performs its actions. */
  tell(event: Event): void
  /** Delivers a message as the network does: at once, late, twice or never. */
  send(deliver: () => void): void
  /** The same, from a worker to the brain: lost if the brain dies meanwhile. */
  sendToBrain(deliver: () => void): void
  /** The client of a job hangs up. */
  hangUp(job: string): void
}
