/**
 * Processes in virtual time: a brain, fronts and workers run their real code, connected by a virtual network, while a seed
 * draws requests and faults.
 */

import { type Random, stream } from '../../src/lib/random.ts'
import type { ToBrain } from '../../src/live/supervise/messages.ts'
import type { SupervisorLink } from '../../src/live/supervise/supervisor-link.ts'
import { workerNameOf } from '../../src/model/worker.ts'
import { Addresses } from './addresses.ts'
import { attemptToken, BrainProcess } from './brain-process.ts'
import type { VirtualChild } from './child.ts'
import { planRequests } from './clients.ts'
import { VirtualDisk } from './disk.ts'
import { busyMs, Faults, type FaultWorld, type Node, type WorkerNode } from './faults.ts'
import { FrontProcess } from './front-process.ts'
import type { Judge } from './judge.ts'
import { VirtualLedgerFile } from './ledger.ts'
import { VirtualNetwork } from './network.ts'
import { VirtualPort } from './port.ts'
import { type SpawnFailures, spawnFailures } from './spawn-failures.ts'
import { Supervised } from './supervised.ts'
import { newProcess, type VirtualProcess, type VirtualTime } from './time.ts'
import { WorkerProcess } from './worker-process.ts'

const brainAddress = ':brain'
/** Then everything must come to rest. */
const restMs = 180_000
/** How often it is checked whether it has. */
const checkMs = 1_000

export class World implements FaultWorld {
  readonly seed: number
  readonly time: VirtualTime
  readonly network: VirtualNetwork
  readonly #random: Random
  readonly disk: VirtualDisk
  readonly #ledger: VirtualLedgerFile
  readonly #workers = new Map<string, WorkerNode>()
  readonly #fronts = new Set<FrontProcess>()
  readonly clients = newProcess('clients')
  readonly #seats: number
  readonly #port: VirtualPort
  readonly supervised: Supervised
  readonly starts: SpawnFailures
  readonly judge: Judge
  readonly #addresses: Addresses
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
    this.disk = new VirtualDisk(() => time.now, stream(seed, 'disk'))
    this.#ledger = new VirtualLedgerFile({ time, disk: this.disk, failed: (why) => judge.fail(why) })
    this.#seats = 1 + this.#random.below(3)
    judge.isCalm = seed % 3 === 0
    judge.losesOnlyBrains = seed % 3 === 2 && seed % 2 === 0
    this.#port = new VirtualPort(time, this.network, this.#seats)
    this.#port.onGap = ({ name }) => {
      if (judge.killed.size === 0) judge.fail(`${name} left its seat empty`)
    }
    judge.hasFailedStarts = !judge.isCalm && !judge.losesOnlyBrains
    const isOn = judge.hasFailedStarts && seed % 4 !== 0
    this.starts = spawnFailures(stream(seed, 'starts'), { isOn, busyMs })
    this.supervised = new Supervised({
      time,
      brain: (process, child) => this.#startBrain(process, child),
      front: (process, child, id) => this.#startFront(process, child, id),
      worker: (process, _child, launch) => this.#runWorker(process, workerNameOf(launch), launch),
      ended: (process) => this.network.ended(process),
      startMs: (kind) =>
        kind === 'worker' ? 200 + this.#random.next() * 2000 : 50 + this.#random.next() * 500,
      failure: () => this.starts.draw(time.now),
      log: (line) => {
        if (/^front f\d+ did not start/.test(line)) this.#rollFailed = true
      },
    })
  }

  /** What is closed at its end may fail no more promises. */
  async run(leftOut: ReadonlySet<number>): Promise<{ planned: number; failures: string[] }> {
    const random = this.#random
    using _port = { [Symbol.dispose]: () => this.#port.close() }
    this.supervised.run()
    const outside = random.below(3)
    for (let i = 1; i <= outside; i++) this.#startWorker(`x${i}`, `x${i}`)
    const numbered = { count: 0, leftOut }
    this.time.numbered = numbered
    planRequests(10 + random.below(20), {
      ...{ seed: this.seed, time: this.time, judge: this.judge, process: this.clients },
      ...{ port: this.#port, seats: this.#seats, between: [3000, busyMs - 2000] },
    })
    const faults = new Faults(this)
    faults.planFaults()
    faults.planRolls()
    this.time.numbered = undefined
    await this.time.run(busyMs, () => this.judge.isOver)
    for (let at = busyMs; at < busyMs + restMs && !this.#isQuiet; at += checkMs)
      await this.time.run(at, () => this.judge.isOver)
    Object.assign(this.judge.counts, this.#ledger.counts, { failedStarts: this.starts.count })
    if (!this.judge.isOver) this.#judgeAtRest()
    return { planned: numbered.count, failures: [...this.judge.failures] }
  }

  inBrain(run: (brain: BrainProcess) => void): void {
    const { process, brain } = this.brain!
    this.time.schedule(this.time.now, 'input', process, () => run(brain))
  }

  #startBrain(process: VirtualProcess, child: VirtualChild): void {
    const takers: ((message: ToBrain) => void)[] = []
    child.receive = (message: ToBrain) => {
      if (message.type !== 'begin') for (const take of takers) take(message)
      else {
        const { memory, workers } = message
        const send: SupervisorLink['send'] = (each) => child.tell(each)
        const onMessage: SupervisorLink['onMessage'] = (take) => void takers.push(take)
        this.#runBrain(process, {
          ...{ epoch: ++this.#epoch, memory, workers, leads: false, tokens: {}, send, onMessage },
          close() {},
        })
      }
    }
  }

  #runBrain(process: VirtualProcess, link: SupervisorLink): void {
    // Its supervisor then replaces fronts with other code, or logs that it cannot.
    this.#rollFailed = false
    const brain = new BrainProcess({
      ledger: this.#ledger.open(process),
      failed: (why) => this.judge.fail(why),
      ...{ process, network: this.network, disk: this.disk, address: brainAddress, graceMs: 5_000 },
      fronts: this.#seats,
      link,
      now: () => performance.timeOrigin + performance.now(),
      spec: {
        ...{ scheduler: 'srpt', discipline: 'srpt', epoch: link.epoch, seed: this.seed },
        scale: { min: 2, max: 4 },
        limits: { queue: 1000, beatMs: 1000, recoverMs: 5000, bootMs: 20_000, listMs: 3000, backoffMs: 500 },
      },
      lost: (worker, why) => this.#lost(worker, why),
      exit: () => this.supervised.end(process, 1),
      rolled: (failed) => (this.#rollFailed = failed),
      joined: (worker, port) => this.#addresses.joined(worker, port),
      ordered: (token, worker) => this.#addresses.ordered(token, worker),
      adopted: () => this.judge.counts.adopted++,
    })
    this.brain = { process, brain, touched: false }
  }

  #startFront(process: VirtualProcess, child: VirtualChild, id: string): void {
    const judge = this.judge
    const front: FrontProcess = new FrontProcess({
      ...{ process, time: this.time, network: this.network, port: this.#port, brainAddress, id },
      tell: (message) => child.tell(message),
      exit: (code) => this.supervised.end(process, code),
      sent: (token, port) => this.#addresses.sent(token, port),
      notSent: (token) => judge.notSent(token),
      over: (job) => judge.over(job),
      failed: (why) => judge.fail(why),
      failsThread: () => this.starts.draw(this.time.now) !== undefined,
      log: (line) => judge.logged(line),
    })
    this.#fronts.add(front)
    child.receive = (message, handle) => front.receive(message, handle)
  }

  /** A worker that somebody else starts. */
  #startWorker(key: string, id: string): WorkerNode {
    const process = newProcess(`worker ${key}`)
    const node = this.#newNode(key, { process, id, launch: undefined })
    this.time.schedule(this.time.now, 'input', process, () => this.#runNode(node))
    return node
  }

  /** A worker that the supervisor has started. */
  #runWorker(process: VirtualProcess, id: string, launch: string): void {
    this.#runNode(this.#newNode(launch, { process, id, launch }))
  }

  #newNode(key: string, parts: Pick<WorkerNode, 'process' | 'id' | 'launch'>): WorkerNode {
    const node = { ...parts, touched: false } as WorkerNode
    this.#workers.set(key, node)
    return node
  }

  #runNode(node: WorkerNode): void {
    const { process, id, launch } = node
    node.worker = new WorkerProcess({
      ...{ process, network: this.network, brainAddress, id, launch, cores: 1, slots: 8 },
      ...{ port: ++this.#ports, token: attemptToken },
      started: ({ request }) => this.judge.started(request),
      exit: () => this.kill(node),
    })
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
    node.touched = true
    if ((node as Partial<WorkerNode>).launch !== undefined) return this.supervised.end(node.process)
    node.process.alive = false
    this.network.ended(node.process)
  }

  killBrain(): void {
    const process = this.brain?.process
    if (!process?.alive) return
    this.judge.counts.brainKills++
    this.killProcess(process)
  }

  /** Of the cluster itself: its supervisor starts another. */
  killProcess(process: VirtualProcess): void {
    this.judge.killed.add(process)
    this.supervised.end(process)
  }

  livingWorkers(): WorkerNode[] {
    return [...this.#workers.values()].filter(({ process }) => process.alive)
  }

  livingFronts(): FrontProcess[] {
    return [...this.#fronts].filter(({ process }) => process.alive)
  }

  #lost(id: string, why: string): void {
    const node =
      this.#workers.get(id) ??
      [...this.#workers.values()].findLast((each) => each.launch !== undefined && each.id === id)
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
    const rows = this.#ledger.missing
    if (rows > 0) left.push(`${rows} rows of the ledger are neither written nor counted as dropped`)
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
