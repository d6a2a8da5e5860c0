/** Draws the faults of a run from its seed: rolls of fronts, kills, pauses, broken connections and bad disks. */

import { type Random, stream } from '../../src/lib/random.ts'
import type { BrainProcess } from './brain-process.ts'
import type { VirtualDisk } from './disk.ts'
import { type FrontProcess, sendErrors } from './front-process.ts'
import type { Judge } from './judge.ts'
import type { VirtualNetwork } from './network.ts'
import type { SpawnFailures } from './spawn-failures.ts'
import type { Supervised } from './supervised.ts'
import type { VirtualProcess, VirtualTime } from './time.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Requests and faults arrive in this time. */
export const busyMs = 30_000

/** A process and what faults have done to it. */
export interface Node {
  process: VirtualProcess
  /** True: a fault has touched it, so its loss is no surprise. */
  touched: boolean
}

/** Without a launch, somebody else runs it. */
export type WorkerNode = Node & { worker: WorkerProcess; id: string; launch: string | undefined }

export interface FaultWorld {
  readonly seed: number
  readonly time: VirtualTime
  readonly judge: Judge
  readonly network: VirtualNetwork
  readonly disk: VirtualDisk
  readonly clients: VirtualProcess
  readonly supervised: Pick<Supervised, 'process'>
  readonly starts: SpawnFailures
  brain: (Node & { brain: BrainProcess }) | undefined
  livingWorkers(): WorkerNode[]
  livingFronts(): FrontProcess[]
  inBrain(run: (brain: BrainProcess) => void): void
  kill(node: Node | undefined): void
  killBrain(): void
  killProcess(process: VirtualProcess): void
  restartWorker(worker: WorkerNode): void
  startTwin(worker: WorkerNode): void
}

export class Faults {
  readonly #world: FaultWorld

  constructor(world: FaultWorld) {
    this.#world = world
  }

  /** Fronts are replaced, and in some runs a process is killed meanwhile. */
  planRolls(): void {
    const random = stream(this.#world.seed, 'rolls')
    const count = random.below(3)
    for (let i = 0; i < count; i++) {
      const at = 5000 + random.next() * (busyMs - 10_000)
      this.#world.time.plan(at, () => {
        if (!this.#world.brain?.process.alive) return
        this.#world.judge.counts.rolls++
        this.#world.inBrain((brain) => void brain.roll())
      })
      const kills = random.next() < 0.7
      const [killMs, which] = [random.next() * 1500, random.next()]
      if (this.#world.judge.isCalm || this.#world.judge.losesOnlyBrains || !kills) continue
      this.#world.time.plan(at + killMs, () => {
        this.#world.judge.counts.rollKills++
        const fronts = this.#world.livingFronts()
        if (which < 0.25) this.#world.killBrain()
        else if (fronts.length > 0)
          this.#world.killProcess(fronts[Math.floor(((which - 0.25) / 0.75) * fronts.length)]!.process)
      })
    }
  }

  planFaults(): void {
    if (this.#world.judge.isCalm) return
    const random = stream(this.#world.seed, 'faults')
    if (this.#world.judge.losesOnlyBrains) {
      for (let i = 2 + random.below(4); i > 0; i--)
        this.#world.time.plan(2000 + random.next() * (busyMs - 4000), () => this.#world.killBrain())
      return
    }
    const count = random.below(15)
    // Longer than workers may be silent, before other faults give a reason to declare them lost.
    if (this.#world.seed % 3 === 1) {
      const pauseMs = 6000 + random.next() * 6000
      this.#world.time.plan(4000 + random.next() * 2000, () => this.#fault(1, pauseMs / 2.5, random))
    }
    for (let i = 0; i < count; i++) {
      const at = 2000 + random.next() * (busyMs - 4000)
      const kind = random.below(16)
      const ms = 100 + random.exponential() * 3000
      this.#world.time.plan(at, () => this.#fault(kind, ms, random))
    }
  }

  #fault(kind: number, ms: number, random: Random): void {
    const workers = this.#world.livingWorkers()
    const worker = workers[random.below(Math.max(1, workers.length))]
    const outside = workers.find(
      ({ launch, process: { name } }) => launch === undefined && !/twin/.test(name),
    )
    const fronts = this.#world.livingFronts()
    const front = fronts[random.below(Math.max(1, fronts.length))]
    const freeze = ({ process }: { process: VirtualProcess }, forMs = ms) => {
      process.frozenUntilMs = Math.max(process.frozenUntilMs, this.#world.time.now + forMs)
    }
    if (kind === 0) this.#world.killBrain()
    else if (kind <= 2) {
      this.#world.judge.counts.brainPauses++
      // Often longer than workers may be silent.
      if (this.#world.brain) freeze(this.#world.brain, 2.5 * ms)
    } else if (kind === 3 && worker) {
      this.#world.judge.counts.workerKills++
      this.#world.kill(worker)
    } else if (kind === 4) {
      if (!front) return
      this.#world.judge.counts.frontKills++
      this.#world.killProcess(front.process)
    } else if (kind === 8 && outside) this.#world.restartWorker(outside)
    else if (kind === 9 && outside) this.#world.startTwin(outside)
    else if (kind === 10) {
      this.#world.judge.counts.sendFaults++
      front?.breakSending(random.below(sendErrors.length))
    } else if (kind === 13) {
      this.#world.judge.counts.frontPauses++
      if (front) freeze(front)
    } else if (kind === 14) {
      this.#world.judge.counts.supervisorPauses++
      freeze(this.#world.supervised)
    } else if (kind === 15) this.#world.starts.refuse(this.#world.time.now + ms)
    else if (kind === 12) {
      // The whole machine is suspended.
      this.#world.judge.counts.suspensions++
      const nodes = [...workers, ...fronts, ...(this.#world.brain ? [this.#world.brain] : [])]
      freeze(this.#world.supervised)
      for (const node of nodes) freeze(node)
    } else if (kind === 11) {
      this.#world.judge.counts.forgotten++
      front?.missAnnouncement()
    } else if (kind === 7) {
      this.#world.judge.counts.diskFaults++
      // Often longer than rows fit into the ledger's buffer.
      this.#world.disk.disturb(2 * ms)
    } else if (kind === 5 && worker) {
      worker.touched = true
      freeze(worker)
    } else {
      const silent = random.next() < 0.5
      if (silent) this.#world.judge.counts.silences++
      else this.#world.judge.counts.resets++
      for (const each of workers) each.touched = true
      this.#world.network.disturb(silent ? 'silent' : 'reset', this.#world.clients)
    }
  }
}
