/**
 * Processes in virtual time: a brain, fronts and workers run their real code, connected by a virtual network, while a seed
 * draws requests and faults. `runProcesses` throws with the first promise that was broken.
 */

import { type Random, stream } from '../../src/lib/random.ts'
import type { BrainMemory } from '../../src/live/supervise/messages.ts'
import { Addresses } from './addresses.ts'
import { attemptToken, BrainProcess } from './brain-process.ts'
import type { VirtualChild } from './child.ts'
import { planRequests } from './clients.ts'
import { VirtualDisk } from './disk.ts'
import { busyMs, Faults, type FaultWorld, type Node, type WorkerNode } from './faults.ts'
import { FrontProcess } from './front-process.ts'
import { Judge, type ProcessCounts } from './judge.ts'
import { VirtualNetwork } from './network.ts'
import { VirtualPort } from './port.ts'
import { Supervised } from './supervised.ts'
import { newProcess, type VirtualProcess, VirtualTime } from './time.ts'
import { WorkerProcess } from './worker-process.ts'

const brainAddress = ':brain'
/** Then everything must come to rest. */
const restMs = 180_000
/** How often it is checked whether it has. */
const checkMs = 1_000

export async function runProcesses(seed: number): Promise<ProcessCounts> {
  const time = new VirtualTime()
  const random = stream(seed, 'timers')
  using _installed = time.install(() => random.next())
  const judge = new Judge(() => time.now)
  time.onCharged = (process, turnMs) => judge.computed(process, turnMs)
  time.onUncaught = (process, error) => judge.uncaught(process, error)
  await new World(seed, time, judge).run()
  return judge.counts
}

class World implements FaultWorld {
  readonly seed: number
  readonly time: VirtualTime
  readonly network: VirtualNetwork
  readonly #random: Random
  readonly disk: VirtualDisk
  readonly #workers = new Map<string, WorkerNode>()
  readonly #fronts = new Set<FrontProcess>()
  readonly clients = newProcess('clients')
  readonly #seats: number
  readonly #port: VirtualPort
  readonly #supervised: Supervised
  readonly judge: Judge
  readonly #addresses: Addresses
  /** True: workers end with the brain that launched them, as children on its machine do. */
  readonly #childWorkers: boolean
  brain: (Node & { brain: BrainProcess }) | undefined
  #epoch = 0
  /** The operator was told that the last roll stopped half-way: fronts keep the code that they have. */
  #rollFailed = false
  #ports = 0
  #twins = 0

  constructor(seed: number, time: VirtualTime, judge: Judge) {
    this.judge = judge
    this.#addresses = new Addresses((why) => judge.fail(why))
    this.seed = seed
    this.time = time
    this.network = new VirtualNetwork(time, stream(seed, 'network'))
    this.#random = stream(seed, 'world')
    this.disk = new VirtualDisk(() => time.now)
    this.#childWorkers = this.#random.next() < 0.5
    this.#seats = 1 + this.#random.below(3)
    judge.isCalm = seed % 3 === 0
    this.#port = new VirtualPort(time, this.network, this.#seats)
    this.#port.onGap = ({ name }) => {
      if (judge.killed.size === 0) judge.fail(`${name} left its seat empty`)
    }
    this.#supervised = new Supervised({
      time,
      brain: (process, child) => this.#startBrain(process, child),
      front: (process, child, id) => this.#startFront(process, child, id),
      ended: (process) => this.network.ended(process),
      startMs: () => 50 + this.#random.next() * 500,
      log: (line) => {
        if (/^front f\d+ did not start/.test(line)) this.#rollFailed = true
      },
    })
  }

  async run(): Promise<void> {
    const random = this.#random
    using _port = { [Symbol.dispose]: () => this.#port.close() }
    this.#supervised.run()
    const outside = random.below(3)
    for (let i = 1; i <= outside; i++) this.#startWorker(`x${i}`, `x${i}`)
    planRequests(10 + random.below(20), {
      ...{ seed: this.seed, time: this.time, judge: this.judge, process: this.clients },
      ...{ port: this.#port, seats: this.#seats, between: [3000, busyMs - 2000] },
    })
    const faults = new Faults(this)
    faults.planFaults()
    faults.planRolls()
    const list = () => {
      if (this.brain?.process.alive) this.inBrain((brain) => brain.listed(this.#launches(), this.time.now))
      this.time.plan(this.time.now + 1000, list)
    }
    this.time.plan(1000, list)
    await this.time.run(busyMs, () => this.judge.failures.length > 0)
    for (let at = busyMs; at < busyMs + restMs && !this.#isQuiet; at += checkMs)
      await this.time.run(at, () => this.judge.failures.length > 0)
    if (this.judge.failures.length === 0) this.#judgeAtRest()
    if (this.judge.failures.length > 0)
      throw new Error(`seed ${this.seed}: ${this.judge.failures.join('; ')}`)
  }

  inBrain(run: (brain: BrainProcess) => void): void {
    const { process, brain } = this.brain!
    this.time.schedule(this.time.now, 'input', process, () => run(brain))
  }

  #launches(): string[] {
    return [...this.#workers.values()].flatMap(({ process, launch }) =>
      process.alive && launch !== undefined ? [launch] : [],
    )
  }

  #startBrain(process: VirtualProcess, child: VirtualChild): void {
    let take: ((message: never, handle: never) => void) | undefined
    child.receive = (message: { type: string; memory?: BrainMemory }, handle) => {
      if (message.type !== 'begin') take?.(message as never, handle as never)
      else this.#runBrain(process, child, message.memory, (taken) => (take = taken))
    }
  }

  #runBrain(
    process: VirtualProcess,
    child: VirtualChild,
    memory: BrainMemory | undefined,
    onMessage: (take: (message: never, handle: never) => void) => void,
  ): void {
    const epoch = ++this.#epoch
    // Its supervisor then replaces fronts with other code, or logs that it cannot.
    this.#rollFailed = false
    const brain = new BrainProcess({
      ...{ process, network: this.network, disk: this.disk, address: brainAddress, graceMs: 5_000 },
      fronts: this.#seats,
      link: { memory, tokens: {}, send: (message) => child.tell(message), onMessage, close() {} },
      now: () => performance.timeOrigin + performance.now(),
      spec: {
        ...{ scheduler: 'srpt', discipline: 'srpt', epoch, seed: this.seed },
        scale: { min: 2, max: 4 },
        limits: { queue: 1000, beatMs: 1000, bootMs: 20_000, listMs: 3000, backoffMs: 500 },
      },
      fleet: {
        launch: (launch) => this.#launch(`${epoch}-${launch}`, launch),
        terminate: (launch) => this.kill(this.#workers.get(`${epoch}-${launch}`)),
        isAlive: (launch) => this.#workers.get(`${epoch}-${launch}`)?.process.alive === true,
      },
      lost: (worker, why) => this.#lost(worker, why),
      rolled: (failed) => (this.#rollFailed = failed),
      joined: (worker, port) => this.#addresses.joined(worker, port),
      ordered: (token, worker) => this.#addresses.ordered(token, worker),
    })
    this.brain = { process, brain, touched: false }
  }

  #startFront(process: VirtualProcess, child: VirtualChild, id: string): void {
    const judge = this.judge
    const front: FrontProcess = new FrontProcess({
      ...{ process, time: this.time, network: this.network, port: this.#port, brainAddress, id },
      tell: (message) => child.tell(message),
      exit: (code) => this.#supervised.end(process, code),
      sent: (token, port) => this.#addresses.sent(token, port),
      notSent: (token) => judge.notSent(token),
      over: (job) => judge.over(job),
      failed: (why) => judge.fail(why),
      log: (line) => judge.logged(line),
    })
    this.#fronts.add(front)
    child.receive = (message, handle) => front.receive(message, handle)
  }

  #launch(key: string, launch: string): void {
    const bootMs = 200 + this.#random.next() * 2000
    const brain = this.brain
    this.time.plan(this.time.now + bootMs, () => {
      if (this.#childWorkers && brain && !brain.process.alive) return
      this.#startWorker(key, `w${key}`, launch)
    })
  }

  #startWorker(key: string, id: string, launch?: string): WorkerNode {
    const process = newProcess(`worker ${key}`)
    const port = ++this.#ports
    const node = { process, touched: false, id, launch } as WorkerNode
    this.#workers.set(key, node)
    this.time.schedule(this.time.now, 'input', process, () => {
      node.worker = new WorkerProcess({
        ...{ process, network: this.network, brainAddress, id, launch, port, cores: 1, slots: 8 },
        token: attemptToken,
        started: ({ request }) => this.judge.started(request),
        exit: () => this.kill(node),
      })
    })
    return node
  }

  /** A worker that somebody else runs is started again under its id, at another port; nobody tells the brain. */
  restartWorker({ process, id }: WorkerNode): void {
    this.judge.counts.workerRestarts++
    process.alive = false
    this.network.ended(process)
    this.time.plan(this.time.now + 300, () => {
      this.#startWorker(id, id).touched = true
    })
  }

  /** Somebody starts a second worker under an id that is in use. */
  startTwin({ id }: WorkerNode): void {
    this.judge.counts.twins++
    this.#startWorker(`twin ${++this.#twins} of ${id}`, id).touched = true
  }

  kill(node: Node | undefined): void {
    if (!node?.process.alive) return
    node.process.alive = false
    node.touched = true
    this.network.ended(node.process)
    const launch = (node as Partial<WorkerNode>).launch
    const brain = this.brain
    if (launch === undefined || !brain?.process.alive) return
    this.time.plan(this.time.now + 5, () => {
      if (this.brain === brain && brain.process.alive) this.inBrain((each) => each.gone(launch))
    })
  }

  killBrain(): void {
    const process = this.brain?.process
    if (!process?.alive) return
    this.judge.counts.brainKills++
    this.killProcess(process)
    for (const worker of this.#workers.values()) {
      if (this.#childWorkers && worker.launch !== undefined) this.kill(worker)
      // Workers that other brains launched have nobody who ends them.
      else worker.touched = true
    }
  }

  /** Of the cluster itself: its supervisor starts another. */
  killProcess(process: VirtualProcess): void {
    this.judge.killed.add(process)
    this.#supervised.end(process)
  }

  livingWorkers(): WorkerNode[] {
    return [...this.#workers.values()].filter(({ process }) => process.alive)
  }

  livingFronts(): FrontProcess[] {
    return [...this.#fronts].filter(({ process }) => process.alive)
  }

  #lost(id: string, why: string): void {
    const node = this.#workers.get(id) ?? this.#workers.get(id.slice(1))
    this.judge.lost(id, why, node !== undefined && !node.touched && node.process.alive)
  }

  /** Nothing is in progress, and each seat has one front. */
  get #isQuiet(): boolean {
    const { failures, isQuiet } = this.judge
    return failures.length > 0 || (isQuiet && this.#leftovers().length === 0)
  }

  #leftovers(): string[] {
    const left: string[] = []
    const fronts = this.livingFronts()
    const brain = this.brain
    if (!brain?.process.alive) return ['the brain is not there']
    if (brain.brain.jobs > 0) left.push(`the brain still has ${brain.brain.jobs} jobs`)
    for (const { process, worker } of this.#workers.values()) {
      const held = process.alive && worker ? worker.held : 0
      if (held > 0) left.push(`${process.name} still holds ${held} attempts`)
    }
    if (fronts.length !== this.#seats)
      left.push(`${this.#seats} fronts should be left, not ${fronts.map(({ id }) => id).join(', ')}`)
    for (const { id, isListening, isLeaving, settings } of fronts) {
      if (!isListening || isLeaving) left.push(`front ${id} does not serve`)
      else if (!this.#rollFailed && settings?.args[0] !== brain.brain.settings)
        left.push(`front ${id} has the code ${settings?.args[0]} instead of ${brain.brain.settings}`)
    }
    return left
  }

  #judgeAtRest(): void {
    this.judge.atRest()
    for (const left of this.#leftovers()) this.judge.fail(left)
  }
}
