/** The history of the fleet: each launch, join, drain and loss with its reason, from events and actions. */

import { count, span } from '../lib/quantities.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import type { Reason } from '../model/reason.ts'
import { workerNameOf } from '../model/worker.ts'
import { explain } from './reasons.ts'

export type Change =
  | 'launch'
  | 'joined'
  /** A launch failed. */
  | 'given-up'
  /** An unknown machine of the provider is ended. */
  | 'stranger'
  | 'drain'
  /** A worker ended after draining. */
  | 'ended'
  /** A worker is ended by a rule, even with jobs left. */
  | 'removed'
  | 'lost'
  /** A silent worker is not declared lost yet. */
  | 'held'
  | 'ejected'
  | 'readmitted'

export interface Step {
  at: number
  change: Change
  /** Workers, or launches that have not joined yet. */
  names: string[]
  reason: Reason
  /** Size of the fleet after the step. */
  ready: number
  booting: number
  draining: number
}

export type ToldStep = Step & { text: string }

type FleetAction = Extract<
  Action,
  { type: 'launch' | 'abandon' | 'drain' | 'terminate' | 'hold' | 'eject' | 'readmit' }
>

const fleetActions: ReadonlySet<string> = new Set<FleetAction['type']>([
  ...(['launch', 'abandon', 'drain', 'terminate', 'hold', 'eject', 'readmit'] as const),
])

export class FleetStory {
  readonly #most: number
  readonly #steps: Step[] = []
  /** Start times of launches under way. */
  readonly #booting = new Map<string, number>()
  readonly #workers = new Map<string, 'ready' | 'draining'>()

  /** Keeps the last `most` steps. */
  constructor(most = 200) {
    this.#most = most
  }

  /** Oldest first. */
  steps(): ToldStep[] {
    return this.#steps.map((step) => ({ ...step, text: textOf(step) }))
  }

  observe(event: Event, actions: readonly Action[], now: number): void {
    if (event.type === 'joined') this.#joined(event, actions, now)
    for (let i = 0; i < actions.length; i++) {
      const action = actions[i]!
      if (fleetActions.has(action.type)) this.#did(action as FleetAction, now)
    }
  }

  #joined(
    { worker: { id }, launch, bootMs }: Extract<Event, { type: 'joined' }>,
    actions: readonly Action[],
    now: number,
  ): void {
    const isRejected = actions.some(
      (action) =>
        action.type === 'terminate' && action.worker === id && action.reason.code === 'not-expected',
    )
    if (this.#workers.has(id) || isRejected) return
    const begun = launch === undefined ? undefined : this.#booting.get(launch)
    if (launch !== undefined) this.#booting.delete(launch)
    this.#workers.set(id, 'ready')
    // A spare worker was started before its launch.
    const boot = begun !== undefined && { bootMs: bootMs ?? now - begun }
    this.#add('joined', id, { code: 'joined', ...boot }, now)
  }

  #did(action: FleetAction, now: number): void {
    const { reason } = action
    switch (action.type) {
      case 'launch':
        this.#booting.set(action.launch, now)
        return this.#add('launch', action.launch, reason, now)
      case 'abandon':
        if (this.#booting.delete(action.launch)) return this.#add('given-up', action.launch, reason, now)
        return this.#add('stranger', action.launch, reason, now)
      case 'drain':
        this.#workers.set(action.worker, 'draining')
        return this.#add('drain', action.worker, reason, now)
      case 'terminate':
        // A rejected worker was never part of the fleet.
        if (!this.#workers.delete(action.worker)) return
        return this.#add(endOf(reason), action.worker, reason, now)
      case 'hold':
        return this.#add('held', action.worker, reason, now)
      case 'eject':
        return this.#add('ejected', action.worker, reason, now)
      case 'readmit':
        return this.#add('readmitted', action.worker, reason, now)
    }
  }

  /** Merges changes of the same kind, reason and time into one step. */
  #add(change: Change, name: string, reason: Reason, at: number): void {
    const last = this.#steps.at(-1)
    const phases = [...this.#workers.values()]
    const ready = phases.filter((phase) => phase === 'ready').length
    const size = { ready, booting: this.#booting.size, draining: phases.length - ready }
    if (last?.at === at && last.change === change && last.reason.code === reason.code) {
      last.names.push(name)
      Object.assign(last, size)
      return
    }
    this.#steps.push({ at, change, names: [name], reason, ...size })
    if (this.#steps.length > this.#most) this.#steps.shift()
  }
}

/** Reason codes of workers that are lost or assumed lost. */
const losses = new Set(['lost', 'silent', 'pings', 'heartbeat', 'not-listed', 'doubled'])

export function isLoss({ code }: Reason): boolean {
  return losses.has(code)
}

function endOf(reason: Reason): Change {
  if (reason.code === 'drained') return 'ended'
  return isLoss(reason) ? 'lost' : 'removed'
}

function textOf({ change, names, reason }: Step): string {
  const all = names.join(', ')
  switch (change) {
    case 'launch':
      return `${count(names.length, 'worker')} launched: ${explain(reason)}`
    case 'joined':
      return `${all} joined${reason.bootMs === undefined ? '' : `, ${span(reason.bootMs)} after its launch`}`
    case 'given-up':
      return `${names.map(workerNameOf).join(', ')} did not start: ${explain(reason)}`
    case 'stranger':
      return `${names.length === 1 ? 'machine of launch' : 'machines of launches'} ${all} ended: ${explain(reason)}`
    case 'drain':
      return `${all} draining: ${explain(reason)}`
    case 'ended':
      return `${all} ended after draining`
    case 'removed':
      return `${all} ended: ${explain(reason)}`
    case 'lost':
      return `${all} lost: ${explain(reason)}`
    case 'held':
      return `${all} not declared lost yet: ${explain(reason)}`
    case 'ejected':
      return `${all} ejected for ${span(reason.ms)}: ${explain(reason)}`
    case 'readmitted':
      return `${all} gets jobs again: ${explain(reason)}`
  }
}

/** For example "2 ready, 1 booting". */
export function sizeText({ ready, booting, draining }: Pick<Step, 'ready' | 'booting' | 'draining'>): string {
  return [
    `${ready} ready`,
    ...(booting > 0 ? [`${booting} booting`] : []),
    ...(draining > 0 ? [`${draining} draining`] : []),
  ].join(', ')
}
