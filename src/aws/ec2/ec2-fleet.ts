/**
 * A fleet of EC2 instances, each with one worker. AWS is asked again until the outcome of a launch is known, always with
 * the launch's own client token, so a lost answer never makes two instances.
 */

import { createHash } from 'node:crypto'
import type { Listed, Provider, ProviderEvents } from '../../model/provider.ts'
import { AwsError } from '../aws-error.ts'
import { isTransient, pauseMs, repeated, waitFor } from '../repeat.ts'
import type { Ec2Api, Machine } from './api.ts'
import { type Choice, type Choices, choicesOf } from './choices.ts'
import { endAll, terminateOne } from './end-all.ts'
import type { Ec2Settings } from './settings.ts'
import { userData } from './user-data.ts'

export interface Ec2FleetParts {
  api: Ec2Api
  settings: Ec2Settings
  /** With which workers join. */
  token: string
  /** Launches of an earlier brain. */
  left: readonly Machine[]
  events: ProviderEvents
  log(line: string): void
  /** Default: real time. */
  now?(): number
  wait?(ms: number): Promise<void>
  /** From 0 to 1, for pauses. */
  random?(): number
}

/** Failed calls in a row after which a launch or a termination is given up. */
const mostFailures = 12

interface Launch {
  /** Instances that came of it: one, unless AWS made two. */
  ids: Set<string>
  since: number
  joined: boolean
  /** It is no longer wanted. */
  abandoned: boolean
  /** Resolves when the outcome of the launch is known. Undefined: it is. */
  starting?: Promise<void> | undefined
}

export class Ec2Fleet implements Provider {
  readonly #parts: Ec2FleetParts
  readonly #choices: Choices
  readonly #launches = new Map<string, Launch>()
  readonly #ending = new Map<string, Promise<void>>()
  #closed: Promise<void> | undefined

  constructor(parts: Ec2FleetParts) {
    this.#parts = parts
    this.#choices = choicesOf(parts.settings.types, parts.settings.subnets)
    for (const { id, launch, since } of parts.left) this.#entry(launch, since).ids.add(id)
  }

  launch(launch: string): void {
    if (this.#closed) return
    const entry = this.#entry(launch, this.#now())
    entry.starting = this.#start(launch, entry).finally(() => {
      entry.starting = undefined
    })
  }

  joined(launch: string): void {
    const entry = this.#launches.get(launch)
    if (entry) entry.joined = true
  }

  /** Launches whose outcome is not known yet count as machines. */
  async list(): Promise<readonly Listed[]> {
    const machines = await this.#parts.api.machines()
    const alive = machines.filter(({ isEnded }) => !isEnded)
    for (const { id, launch } of alive) this.#launches.get(launch)?.ids.add(id)
    for (const machine of machines) if (machine.isEnded) this.#noteEnded(machine)
    const listed = new Set(alive.map(({ launch }) => launch))
    const starting = [...this.#launches].filter(
      ([launch, { starting, abandoned }]) => starting && !abandoned && !listed.has(launch),
    )
    return [
      ...alive.map(({ launch, since }) => ({ launch, since })),
      ...starting.map(([launch, { since }]) => ({ launch, since })),
    ]
  }

  terminate(launch: string, graceMs = 0): void {
    const entry = this.#launches.get(launch)
    if (entry) entry.abandoned = true
    if (graceMs <= 0) return void this.#end(launch)
    const timer = setTimeout(() => !this.#closed && void this.#end(launch), graceMs)
    timer.unref()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** The instance of a launch, for its metrics. */
  instanceOf(launch: string): string | undefined {
    const [id] = this.#launches.get(launch)?.ids ?? []
    return id
  }

  #now(): number {
    return (this.#parts.now ?? Date.now)()
  }

  #entry(launch: string, since: number): Launch {
    const known = this.#launches.get(launch)
    if (known) return known
    const entry: Launch = { ids: new Set(), since, joined: false, abandoned: false }
    this.#launches.set(launch, entry)
    return entry
  }

  async #start(launch: string, entry: Launch): Promise<void> {
    try {
      const id = await this.#run(launch, entry)
      if (id === undefined) return void this.#launches.delete(launch)
      entry.ids.add(id)
      if (!entry.abandoned) return
      // A termination that has begun may have missed this instance. Only `close`, which lists all, waits for the next one.
      void Promise.resolve(this.#ending.get(launch)).then(() => this.#end(launch))
    } catch (error) {
      const wasAbandoned = entry.abandoned
      this.#launches.delete(launch)
      if (!wasAbandoned) this.#parts.events.launchFailed(launch, (error as Error).message)
    }
  }

  /** Undefined: the launch was abandoned before any call for it could have had an effect. */
  async #run(launch: string, entry: Launch): Promise<string | undefined> {
    const { api, settings, token } = this.#parts
    const choices = [...this.#choices.inOrder(this.#now())]
    let isUnknown = false
    for (let failures = 0; ; ) {
      // The answer to a call whose outcome is unknown names its instance, which can then be terminated.
      if (entry.abandoned && !isUnknown) return undefined
      const choice = choices[0]!
      const clientToken = clientTokenOf(settings.cluster, launch, choice)
      try {
        return await api.run({ launch, choice, clientToken, userData: userData(settings, { launch, token }) })
      } catch (error) {
        const kind = error instanceof AwsError ? error.kind : undefined
        if (kind === 'capacity' && choices.length > 1) {
          this.#choices.failed(choice, this.#now())
          choices.shift()
          isUnknown = false
        } else if (isTransient(error) && ++failures < mostFailures) {
          // A throttled call has no effect, but the one before it may have had one.
          isUnknown ||= kind === 'unknown'
          await this.#pause(failures)
        } else throw error
      }
    }
  }

  /** Terminates all instances of a launch, including any that this process does not know. */
  #end(launch: string): Promise<void> {
    const ending =
      this.#ending.get(launch) ??
      this.#terminate(launch)
        .catch(({ message }: Error) => {
          // Lists that still name it make the brain ask again.
          this.#parts.log(`fleet: ${message}`)
        })
        .finally(() => this.#ending.delete(launch))
    this.#ending.set(launch, ending)
    return ending
  }

  async #terminate(launch: string): Promise<void> {
    const entry = this.#launches.get(launch)
    const ids = new Set(entry?.ids)
    const found = await this.#repeated(() => this.#parts.api.machines(launch))
    for (const { id, isEnded } of found) if (!isEnded) ids.add(id)
    for (const id of ids) await this.#repeated(() => terminateOne(this.#parts.api, id))
    if (entry && !entry.starting) this.#launches.delete(launch)
  }

  #repeated<T>(call: () => Promise<T>): Promise<T> {
    const { wait = waitFor, random = Math.random } = this.#parts
    return repeated({ most: mostFailures, wait, random }, call)
  }

  async #pause(failures: number): Promise<void> {
    const { wait = waitFor, random = Math.random } = this.#parts
    await wait(pauseMs(failures, random()))
  }

  #noteEnded({ id, launch, reason = 'the instance was terminated' }: Machine): void {
    const entry = this.#launches.get(launch)
    if (!entry?.ids.delete(id) || entry.ids.size > 0 || entry.abandoned) return
    this.#launches.delete(launch)
    const { events } = this.#parts
    const message = `instance ${id}: ${reason}`
    if (entry.joined) events.gone(launch, message)
    else events.launchFailed(launch, message)
  }

  async #close(): Promise<void> {
    const { api, log, wait = waitFor } = this.#parts
    const launches = [...this.#launches.values()]
    for (const entry of launches) entry.abandoned = true
    await Promise.all(launches.map(({ starting }) => starting))
    const known = [...this.#launches.values()].flatMap(({ ids }) => [...ids])
    await endAll(api, { known, wait, log })
    api.close()
  }
}

/** A launch that asks for another type or subnet is another request to AWS. */
function clientTokenOf(cluster: string, launch: string, { type, subnet }: Choice): string {
  return createHash('sha256')
    .update(JSON.stringify([cluster, launch, type, subnet]))
    .digest('hex')
}
