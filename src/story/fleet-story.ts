/** The story of the fleet: each step of its growth and shrinkage, with its reason, from events and actions alone. */

import { count, span } from '../lib/quantities.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import type { Reason } from '../model/reason.ts'
import { explain } from './reasons.ts'

/** What a step does. */
export type Change =
  /** Workers are launched, */
  | 'launch'
  /** one has joined, */
  | 'joined'
  /** a launch has come to nothing, */
  | 'given-up'
  /** what nobody knows is ended, */
  | 'stranger'
  /** a worker gets no more jobs, */
  | 'drain'
  /** has ended as it was to, */
  | 'ended'
  /** is ended by a rule, whatever it has in hand, */
  | 'removed'
  /** or is lost. */
  | 'lost'

export interface Step {
  at: number
  change: Change
  /** Launches, where no worker has come of them yet; else workers. */
  names: string[]
  reason: Reason
  /** The fleet after it. */
  ready: number
  booting: number
  draining: number
}

export type ToldStep = Step & { text: string }

type FleetAction = Extract<Action, { type: 'launch' | 'abandon' | 'drain' | 'terminate' }>

export class FleetStory {
  readonly #most: number
  readonly #steps: Step[] = []
  /** Launches under way, and when they began. */
  readonly #booting = new Map<string, number>()
  readonly #workers = new Map<string, 'ready' | 'draining'>()

  /** The last `most` steps are remembered. */
  constructor(most = 200) {
    this.#most = most
  }

  /** In words, the oldest first. */
  steps(): ToldStep[] {
    return this.#steps.map((step) => ({ ...step, text: textOf(step) }))
  }

  observe(event: Event, actions: readonly Action[], now: number): void {
    if (event.type === 'joined') this.#joined(event, actions, now)
    for (let i = 0; i < actions.length; i++) {
      const action = actions[i]!
      const { type } = action
      if (type === 'launch' || type === 'abandon' || type === 'drain' || type === 'terminate')
        this.#did(action, now)
    }
  }

  #joined(
    { worker: { id }, launch }: Extract<Event, { type: 'joined' }>,
    actions: readonly Action[],
    now: number,
  ): void {
    const sentAway = actions.some(
      (action) =>
        action.type === 'terminate' && action.worker === id && action.reason.code === 'not-expected',
    )
    if (this.#workers.has(id) || sentAway) return
    const begun = launch === undefined ? undefined : this.#booting.get(launch)
    if (launch !== undefined) this.#booting.delete(launch)
    this.#workers.set(id, 'ready')
    this.#add('joined', id, { code: 'joined', ...(begun !== undefined && { bootMs: now - begun }) }, now)
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
        // Who is sent away was never one of the fleet.
        if (!this.#workers.delete(action.worker)) return
        return this.#add(endOf(reason), action.worker, reason, now)
    }
  }

  /** What happens to several at the same time for the same reason is one step. */
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

/** Codes of workers that are not there any more, or are taken not to be. */
const losses = new Set(['lost', 'silent', 'pings', 'not-listed', 'doubled'])

function endOf({ code }: Reason): Change {
  if (code === 'drained') return 'ended'
  return losses.has(code) ? 'lost' : 'removed'
}

function textOf({ change, names, reason }: Step): string {
  const all = names.join(', ')
  switch (change) {
    case 'launch':
      return `${count(names.length, 'worker')} launched: ${explain(reason)}`
    case 'joined':
      return `${all} joined${reason.bootMs === undefined ? '' : `, ${span(reason.bootMs)} after its launch`}`
    case 'given-up':
      return `${names.length === 1 ? 'launch' : 'launches'} ${all} given up: ${explain(reason)}`
    case 'stranger':
      return `what came of launch ${all} is ended: ${explain(reason)}`
    case 'drain':
      return `${all} ${names.length === 1 ? 'gets' : 'get'} no more jobs: ${explain(reason)}`
    case 'ended':
      return `${all} ended with empty hands`
    case 'removed':
      return `${all} ended: ${explain(reason)}`
    case 'lost':
      return `${all} lost: ${explain(reason)}`
  }
}

/** The fleet's size after a step: 2 ready, 1 booting. */
export function sizeText({ ready, booting, draining }: Pick<Step, 'ready' | 'booting' | 'draining'>): string {
  return [
    `${ready} ready`,
    ...(booting > 0 ? [`${booting} booting`] : []),
    ...(draining > 0 ? [`${draining} draining`] : []),
  ].join(', ')
}
