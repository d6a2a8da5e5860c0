/** Compares the brain's view with the invariants' own account. */

import type { BrainView, WorkerView } from '../model/view.ts'
import { type Account, fail } from './invariant-account.ts'

export interface InvariantLimits {
  /** True: the discipline gives each running job its own core. */
  bounded: boolean
  /** The maximum number of workers, and of attempts in functions. */
  max: number
  functions: number
}

export class ViewInvariants {
  readonly #account: Account
  readonly #limits: InvariantLimits
  #turns = 0

  constructor(account: Account, limits: InvariantLimits) {
    this.#account = account
    this.#limits = limits
  }

  check(view: BrainView): void {
    const { live } = this.#account
    const { max } = this.#limits
    if (view.jobs !== live.size) fail(`the brain counts ${view.jobs} jobs, there are ${live.size}`)
    this.#checkTurns(view)
    this.#checkFunctions(view)
    let ready = 0
    for (const worker of view.workers) {
      if (worker.state === 'ready') ready++
      this.#checkWorker(worker)
    }
    if (ready !== view.ready) fail(`the brain counts ${view.ready} ready workers, there are ${ready}`)
    if (ready + view.booting.length > max)
      fail(`${ready} workers are ready and ${view.booting.length} are booting, but the maximum is ${max}`)
    this.#checkEjections(view, ready)
    const idle = view.idleBeside()
    if (idle) fail(`job ${idle.job} is queued although worker ${idle.worker}, which may take it, is idle`)
    const left = view.leftBehind()
    if (left) fail(`the brain remembers ${left}, which has ended`)
  }

  /** Not all workers are ejected, and the view names the ejected ones. */
  #checkEjections({ workers }: BrainView, ready: number): void {
    const { workers: account } = this.#account
    let ejected = 0
    for (const { id, notice, state } of workers) {
      if (!account.get(id)?.ejected || state !== 'ready') continue
      ejected++
      if (!notice) fail(`worker ${id} is ejected, but its view does not say why`)
    }
    if (ejected > 0 && ejected === ready) fail(`all ${ready} ready workers are ejected`)
  }

  /** The maximum falls with the fleet; turns that jobs already have may exceed it, but none is added. */
  #checkTurns({ turns: { taken, most } }: BrainView): void {
    if (taken < 0 || taken > Math.max(most, this.#turns))
      fail(`${taken} jobs have their turn, up from ${this.#turns}, but the maximum is ${most}`)
    this.#turns = taken
  }

  /** Every job is queued, on a worker or in a function. */
  #checkFunctions({ away, jobs, waiting, placed, absent }: BrainView): void {
    const { live } = this.#account
    const { functions } = this.#limits
    let count = 0
    for (const job of live.values()) if (job.away) count++
    if (count > functions) fail(`${count} jobs are in functions, but the maximum is ${functions}`)
    if (away.length !== count) fail(`the brain counts ${away.length} jobs in functions, there are ${count}`)
    for (const { job, attempt } of away) {
      const watched = live.get(job)
      if (!watched?.away || watched.attempt !== attempt)
        fail(`the brain has attempt ${attempt} of job ${job} in a function, but it is not in one`)
    }
    if (placed < 0 || jobs !== waiting.length + placed + absent + away.length)
      fail(
        `of ${jobs} jobs ${waiting.length} are queued, ${placed} on workers, ${absent} on absent workers and ${away.length} in functions`,
      )
  }

  #checkWorker({ id, jobs, usedMemoryMb }: WorkerView): void {
    let used = 0
    let adopted = false
    for (const { job, running } of jobs) {
      const watched = this.#account.live.get(job)
      if (watched?.worker !== id)
        fail(`the brain has job ${job} on ${id}, but it is on ${watched?.worker ?? 'no worker'}`)
      if (this.#limits.bounded && running === watched!.paused)
        fail(`the brain has job ${job} ${running ? 'running' : 'paused'}, but issued no action for it`)
      used += watched!.memoryMb
      adopted ||= watched!.adopted
    }
    const ours = this.#account.workers.get(id)!
    if (ours.jobs.size !== jobs.length)
      fail(`worker ${id}: the brain counts ${jobs.length} jobs, there are ${ours.jobs.size}`)
    // What an earlier brain placed is there, whether it fits or not.
    if (!adopted && ours.jobs.size > ours.slots)
      fail(`worker ${id} has ${ours.jobs.size} jobs in ${ours.slots} slots`)
    if (!adopted && ours.jobs.size > 1 && used > ours.memoryMb)
      fail(`worker ${id} was given jobs of ${used} MB, but has ${ours.memoryMb} MB`)
    if (used !== usedMemoryMb)
      fail(`worker ${id}: the brain counts ${usedMemoryMb} MB, but its jobs need ${used} MB`)
  }
}
