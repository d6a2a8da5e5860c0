/**
 * Processes in virtual time: a brain, fronts and workers run their real code, connected by a virtual network, while a seed
 * draws requests and faults. `runProcesses` throws with the first promise that was broken.
 */

import { type Random, stream } from '../../src/lib/random.ts'
import { Addresses } from './addresses.ts'
import { BrainProcess } from './brain-process.ts'
import { planRequests } from './clients.ts'
import { VirtualDisk } from './disk.ts'
import { FrontProcess, sendErrors } from './front-process.ts'
import { Judge, type ProcessCounts } from './judge.ts'
import { VirtualNetwork } from './network.ts'
import { type VirtualProcess, VirtualTime } from './time.ts'
import { WorkerProcess } from './worker-process.ts'

const brainAddress = ':brain'
/** Requests and faults arrive in this time; then everything must come to rest. */
const busyMs = 30_000
const restMs = 180_000

/** A process and what faults have done to it. */
interface Node {
  process: VirtualProcess
  /** True: a fault has touched it, so its loss is no surprise. */
  touched: boolean
}

/** Without a launch, somebody else runs it. */
type WorkerNode = Node & { worker: WorkerProcess; id: string; launch: string | undefined }
type FrontNode = Node & { front: FrontProcess }

export async function runProcesses(seed: number): Promise<ProcessCounts> {
  const time = new VirtualTime()
  const random = stream(seed, 'timers')
  using _installed = time.install(() => random.next())
  const judge = new Judge(() => time.now)
  time.onUncaught = (process, error) => judge.uncaught(process, error)
  await new World(seed, time, judge).run()
  return judge.counts
}

class World {
  readonly #seed: number
  readonly #time: VirtualTime
  readonly #network: VirtualNetwork
  readonly #random: Random
  readonly #disk: VirtualDisk
  readonly #workers = new Map<string, WorkerNode>()
  readonly #fronts: FrontNode[] = []
  readonly #judge: Judge
  readonly #addresses: Addresses
  /** True: workers end with the brain that launched them, as children on its machine do. */
  readonly #childWorkers: boolean
  #brain: (Node & { brain: BrainProcess }) | undefined
  #epoch = 0
  #ports = 0
  #twins = 0

  constructor(seed: number, time: VirtualTime, judge: Judge) {
    this.#judge = judge
    this.#addresses = new Addresses((why) => judge.fail(why))
    this.#seed = seed
    this.#time = time
    this.#network = new VirtualNetwork(time, stream(seed, 'network'))
    this.#random = stream(seed, 'world')
    this.#disk = new VirtualDisk(() => time.now)
    this.#childWorkers = this.#random.next() < 0.5
  }

  async run(): Promise<void> {
    const random = this.#random
    await this.#startBrain()
    const outside = random.below(3)
    for (let i = 1; i <= outside; i++) this.#startWorker(`x${i}`, `x${i}`)
    const fronts = 1 + random.below(3)
    for (let i = 0; i < fronts; i++) await this.#startFront(i)
    planRequests(20 + random.below(60), {
      ...{ seed: this.#seed, time: this.#time, judge: this.#judge, fronts: this.#fronts },
      between: [3000, busyMs - 2000],
    })
    this.#planFaults()
    const list = () => {
      if (this.#brain?.process.alive) this.#inBrain((brain) => brain.listed(this.#launches(), this.#time.now))
      this.#time.plan(this.#time.now + 1000, list)
    }
    this.#time.plan(1000, list)
    await this.#time.run(busyMs, () => this.#judge.failures.length > 0)
    await this.#time.run(busyMs + restMs, () => this.#judge.failures.length > 0)
    if (this.#judge.failures.length === 0) this.#judgeAtRest()
    if (this.#judge.failures.length > 0)
      throw new Error(`seed ${this.#seed}: ${this.#judge.failures.join('; ')}`)
  }

  #inBrain(run: (brain: BrainProcess) => void): void {
    const { process, brain } = this.#brain!
    this.#time.schedule(this.#time.now, 'input', process, () => run(brain))
  }

  #launches(): string[] {
    return [...this.#workers.values()].flatMap(({ process, launch }) =>
      process.alive && launch !== undefined ? [launch] : [],
    )
  }

  async #startBrain(): Promise<void> {
    const epoch = ++this.#epoch
    const process = { name: `brain ${epoch}`, alive: true, frozenUntilMs: 0 }
    await this.#time.enter(process, () => {
      const brain = new BrainProcess({
        ...{ process, network: this.#network, disk: this.#disk, address: brainAddress, graceMs: 5_000 },
        now: () => performance.timeOrigin + performance.now(),
        spec: {
          ...{ scheduler: 'srpt', discipline: 'srpt', epoch, seed: this.#seed },
          scale: { min: 2, max: 4 },
          limits: { queue: 1000, beatMs: 1000, bootMs: 20_000, listMs: 3000, backoffMs: 500 },
        },
        fleet: {
          launch: (launch) => this.#launch(`${epoch}-${launch}`, launch),
          terminate: (launch) => this.#kill(this.#workers.get(`${epoch}-${launch}`)),
          isAlive: (launch) => this.#workers.get(`${epoch}-${launch}`)?.process.alive === true,
        },
        lost: (worker, why) => this.#lost(worker, why),
        joined: (worker, port) => this.#addresses.joined(worker, port),
        ordered: (token, worker) => this.#addresses.ordered(token, worker),
      })
      this.#brain = { process, brain, touched: false }
    })
  }

  #launch(key: string, launch: string): void {
    const bootMs = 200 + this.#random.next() * 2000
    const brain = this.#brain
    this.#time.plan(this.#time.now + bootMs, () => {
      if (this.#childWorkers && brain && !brain.process.alive) return
      this.#startWorker(key, `w${key}`, launch)
    })
  }

  #startWorker(key: string, id: string, launch?: string): WorkerNode {
    const process = { name: `worker ${key}`, alive: true, frozenUntilMs: 0 }
    const port = ++this.#ports
    const node = { process, touched: false, id, launch } as WorkerNode
    this.#workers.set(key, node)
    this.#time.schedule(this.#time.now, 'input', process, () => {
      node.worker = new WorkerProcess({
        ...{ process, network: this.#network, brainAddress, id, launch, port, cores: 1, slots: 8 },
        started: ({ request }) => this.#judge.started(request),
        exit: () => this.#kill(node),
      })
    })
    return node
  }

  async #startFront(index: number): Promise<void> {
    const process = { name: `front ${index}`, alive: true, frozenUntilMs: 0 }
    await this.#time.enter(process, () => {
      const front = new FrontProcess({
        ...{ process, network: this.#network, brainAddress, holdMs: 60_000 },
        ...{ id: `f${index}`, pid: ++this.#ports, now: () => performance.timeOrigin + performance.now() },
        refused: () => this.#replaceFront(index),
        sent: (token, port) => this.#addresses.sent(token, port),
        notSent: (token) => this.#judge.notSent(token),
        superseded: (token) => this.#judge.superseded(token),
        log: (line) => this.#judge.logged(line),
      })
      this.#fronts[index] = { process, front, touched: false }
    })
  }

  /** A front that has ended, or may not join, is started again. */
  #replaceFront(index: number): void {
    this.#kill(this.#fronts[index])
    this.#time.plan(this.#time.now + 500, () => void this.#startFront(index))
  }

  /** A worker that somebody else runs is started again under its id, at another port; nobody tells the brain. */
  #restartWorker({ process, id }: WorkerNode): void {
    this.#judge.counts.workerRestarts++
    process.alive = false
    this.#network.ended(process)
    this.#time.plan(this.#time.now + 300, () => {
      this.#startWorker(id, id).touched = true
    })
  }

  /** Somebody starts a second worker under an id that is in use. */
  #startTwin({ id }: WorkerNode): void {
    this.#judge.counts.twins++
    this.#startWorker(`twin ${++this.#twins} of ${id}`, id).touched = true
  }

  #kill(node: Node | undefined): void {
    if (!node?.process.alive) return
    node.process.alive = false
    node.touched = true
    this.#network.ended(node.process)
    const launch = (node as Partial<WorkerNode>).launch
    const brain = this.#brain
    if (launch === undefined || !brain?.process.alive) return
    this.#time.plan(this.#time.now + 5, () => {
      if (this.#brain === brain && brain.process.alive) this.#inBrain((each) => each.gone(launch))
    })
  }

  #killBrain(): void {
    const { process } = this.#brain!
    if (!process.alive) return
    this.#judge.counts.brainKills++
    process.alive = false
    this.#network.ended(process)
    for (const worker of this.#workers.values()) {
      if (this.#childWorkers && worker.launch !== undefined) this.#kill(worker)
      // Workers that other brains launched have nobody who ends them.
      else worker.touched = true
    }
    const at = this.#time.now + 250 + this.#random.next() * 3000
    this.#time.plan(at, () => void this.#startBrain())
  }

  #planFaults(): void {
    const random = stream(this.#seed, 'faults')
    const count = random.below(11)
    for (let i = 0; i < count; i++) {
      const at = 2000 + random.next() * (busyMs - 4000)
      const kind = random.below(12)
      const ms = 100 + random.exponential() * 3000
      this.#time.plan(at, () => this.#fault(kind, ms, random))
    }
  }

  #fault(kind: number, ms: number, random: Random): void {
    const workers = [...this.#workers.values()].filter(({ process }) => process.alive)
    const worker = workers[random.below(Math.max(1, workers.length))]
    const outside = workers.find(
      ({ launch, process: { name } }) => launch === undefined && !/twin/.test(name),
    )
    const front = this.#fronts[random.below(this.#fronts.length)]!
    const freeze = (node: Node) => {
      const { process } = node
      process.frozenUntilMs = Math.max(process.frozenUntilMs, this.#time.now + ms)
    }
    if (kind === 0) this.#killBrain()
    else if (kind <= 2) {
      this.#judge.counts.brainPauses++
      freeze(this.#brain!)
    } else if (kind === 3 && worker) {
      this.#judge.counts.workerKills++
      this.#kill(worker)
    } else if (kind === 4) {
      const index = this.#fronts.indexOf(front)
      if (!front.process.alive) return
      this.#judge.counts.frontKills++
      this.#replaceFront(index)
    } else if (kind === 8 && outside) this.#restartWorker(outside)
    else if (kind === 9 && outside) this.#startTwin(outside)
    else if (kind === 10) {
      this.#judge.counts.sendFaults++
      front.front.breakSending(random.below(sendErrors.length))
    } else if (kind === 11 && worker) {
      this.#judge.counts.forgotten++
      front.front.forget(worker.id)
    } else if (kind === 7) {
      this.#judge.counts.diskFaults++
      this.#disk.disturb(random.next() < 0.5 ? 'full' : 'slow', ms)
    } else if (kind === 5 && worker) {
      worker.touched = true
      freeze(worker)
    } else {
      const silent = random.next() < 0.5
      if (silent) this.#judge.counts.silences++
      else this.#judge.counts.resets++
      for (const each of workers) each.touched = true
      this.#network.disturb(silent ? 'silent' : 'reset')
    }
  }

  #lost(id: string, why: string): void {
    const node = this.#workers.get(id) ?? this.#workers.get(id.slice(1))
    this.#judge.lost(id, why, node !== undefined && !node.touched && node.process.alive)
  }

  #judgeAtRest(): void {
    this.#judge.atRest()
    const brain = this.#brain!
    if (!brain.process.alive) return
    if (brain.brain.jobs > 0) this.#judge.fail(`the brain still has ${brain.brain.jobs} jobs`)
    for (const { process, worker } of this.#workers.values()) {
      const held = process.alive && worker ? worker.held : 0
      if (held > 0) this.#judge.fail(`${process.name} still holds ${held} attempts`)
    }
  }
}
