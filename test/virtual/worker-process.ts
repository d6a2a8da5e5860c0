/** A virtual worker process: the real supervisor and the real protocol, and the real server of attempts, around jobs that only pass time. */

import type { Server } from 'node:http'
import { disciplines } from '../../src/model/discipline.ts'
import { type Line, lines } from '../../src/wire/lines.ts'
import { type FromBrain, type FromWorker, wireVersion } from '../../src/wire/messages.ts'
import { attemptServer } from '../../src/worker/attempts/attempt-server.ts'
import { nominalRate } from '../../src/worker/rates.ts'
import { Supervisor } from '../../src/worker/supervisor.ts'
import { virtualPool } from './job.ts'
import type { VirtualNetwork } from './network.ts'
import type { VirtualProcess } from './time.ts'
import type { JobParams } from './workload.ts'

/** Delay between attempts to reconnect to the brain. */
const reconnectEveryMs = 250
/** Time limit of a job. */
export const jobLimitMs = 20_000

export interface WorkerProcessParts {
  process: VirtualProcess
  network: VirtualNetwork
  brainAddress: string
  id: string
  /** Undefined: somebody else runs it. */
  launch: string | undefined
  port: number
  /** Authorizes fronts. */
  token: string
  cores: number
  slots: number
  /** A job starts. */
  started(params: JobParams): void
  /** The worker ends by itself, with the reason. */
  exit(why: string): void
}

export class WorkerProcess {
  readonly #parts: WorkerProcessParts
  readonly #supervisor: Supervisor
  readonly #server: Server
  readonly #ready = Promise.withResolvers<void>()
  #line: Line<FromWorker> | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #seq = 0

  constructor(parts: WorkerProcessParts) {
    this.#parts = parts
    const pool = virtualPool((params) => parts.started(params))
    const { cores, slots } = parts
    const send = (message: FromWorker) => this.#line?.send(message)
    const limits = { cores, slots, limitMs: () => jobLimitMs }
    this.#supervisor = new Supervisor({ pool, ...limits, meter: 'off', send }, disciplines.srpt)
    this.#server = attemptServer(this.#supervisor, parts.token, this.#ready.promise)
    parts.network.listen(`:${parts.port}`, parts.process, (socket) => this.#server.emit('connection', socket))
    this.#join()
  }

  /** Attempts that it holds. */
  get held(): number {
    return this.#supervisor.report().length
  }

  async #join(): Promise<void> {
    const { network, process, brainAddress, id, launch, port, cores, slots } = this.#parts
    try {
      const socket = await network.connect(process, brainAddress)
      this.#line = lines<FromBrain, FromWorker>(
        socket,
        (message) => this.#receive(message),
        () => this.#broken(),
      )
    } catch {
      return this.#broken()
    }
    const workPerSecond = nominalRate('off') * 1000
    this.#line.send({
      type: 'hello',
      version: wireVersion,
      worker: { id, cores, workPerSecond, memoryMb: 4096, slots },
      ...(launch !== undefined && { launch }),
      pid: port,
      address: { host: 'virtual', port },
      code: {},
      seq: ++this.#seq,
      held: this.#supervisor.report(true),
    })
  }

  #broken(): void {
    this.#line = undefined
    clearInterval(this.#heartbeat)
    setTimeout(() => void this.#join(), reconnectEveryMs)
  }

  #receive(message: FromBrain): void {
    switch (message.type) {
      case 'welcome':
        this.#ready.resolve()
        this.#supervisor.discipline = disciplines[message.discipline]
        clearInterval(this.#heartbeat)
        this.#heartbeat = setInterval(() => {
          const held = this.#supervisor.report()
          this.#line?.send({ type: 'report', seq: ++this.#seq, held, cpuMs: 0 })
          this.#supervisor.askAgain()
        }, message.beatMs)
        return
      case 'go':
        return this.#supervisor.go(message)
      case 'cancel':
        return this.#supervisor.cancel(message)
      case 'rank':
        return this.#supervisor.rank(message, message.precedence)
      case 'end':
        return this.#parts.exit('told to end')
      case 'refused':
        return this.#parts.exit(message.message)
    }
  }
}
