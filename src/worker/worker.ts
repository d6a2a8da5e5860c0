/** A worker process: slots, a supervisor, a port for attempts, and one connection to the brain. */

import type { EventEmitter } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WireError } from '../lib/errors.ts'
import { disciplines } from '../model/discipline.ts'
import type { WorkerFacts } from '../model/worker.ts'
import { connectToBrain } from '../wire/connect.ts'
import type { Line } from '../wire/lines.ts'
import { type FromBrain, type FromWorker, wireVersion } from '../wire/messages.ts'
import type { ActiveRole, RoleStarter } from './active-role.ts'
import { attemptServer } from './attempts.ts'
import { openPool, type PoolOptions, type WorkerCode } from './open-pool.ts'
import { nominalRate } from './rates.ts'
import { Supervisor } from './supervisor.ts'

export type WorkerOptions = WorkerPlace & PoolOptions & WorkerCode

export interface WorkerPlace {
  id: string
  join: URL
  token: string
  launch?: string
  /** Of the whole worker. */
  memoryMb: number
  /** Where fronts reach it. */
  host: string
  /** How long to try to reach the brain again after the connection broke; 0: not at all. */
  reconnectMs: number
  /** When the signal comes: how long what it has may take to end. */
  leaveMs: number
  /** Starts the role that the brain assigns. Undefined: the worker cannot have roles. */
  startRole?: RoleStarter
}

/**
 * Runs until the brain ends it, or cannot be reached any more. Rejects with what went wrong. At the signal the brain is
 * told at once, sends nothing more, and ends the worker when what it has is done.
 */
export async function runWorker(options: WorkerOptions, signal: AbortSignal): Promise<void> {
  const { id, memoryMb } = options
  const { pool, hashes, cores, slots, meter } = await openPool(options, options)
  const welcomed = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  // Nobody may be waiting for it yet.
  over.promise.catch(() => {})
  let line: Line<FromWorker> | undefined
  let seq = 0
  let beat: NodeJS.Timeout | undefined
  let leaving: NodeJS.Timeout | undefined
  let active: ActiveRole | undefined
  let ended = false
  const supervisor = new Supervisor(
    { pool, cores, slots, meter, say: (message) => line?.send(message) },
    disciplines.srpt,
  )
  const server = attemptServer(supervisor, options.token, welcomed.promise)
  const facts: WorkerFacts = { id, cores, workPerSecond: nominalRate(meter) * 1000, memoryMb, slots }

  const onMessage = (message: FromBrain) => {
    switch (message.type) {
      case 'welcome':
        supervisor.discipline = disciplines[message.discipline]
        supervisor.following = message.following
        clearInterval(beat)
        beat = setInterval(() => {
          const held = supervisor.report()
          const cpuMs = Math.round(supervisor.cpuMs())
          line?.send({ type: 'report', seq: ++seq, held, cpuMs, ...(active && { role: active.role }) })
          supervisor.askAgain()
        }, message.beatMs)
        return welcomed.resolve()
      case 'refused':
        return over.reject(new WireError(message.message, true))
      case 'go':
        return supervisor.go(message)
      case 'cancel':
        return supervisor.cancel(message)
      case 'rank':
        return supervisor.rank(message, message.precedence)
      case 'assign':
        if (active?.role !== message.role) takeRole(message)
        return
      case 'deny':
        // It asks again when that is due.
        return
      case 'drain':
        active?.leave()
        // What was sent before may still be on its way here, and is taken: who sends decides.
        return
      case 'end':
        return over.resolve()
    }
  }

  const countIn = (_: unknown, answer: EventEmitter) => {
    if (active) answer.once('close', active.begin())
  }
  /** A previous brain may have assigned another. */
  const takeRole = (assigned: Extract<FromBrain, { type: 'assign' }>) => {
    if (!options.startRole)
      return over.reject(new WireError(`this worker cannot be a ${assigned.role}`, true))
    if (!active) server.on('request', countIn).on('upgrade', countIn)
    active?.leave()
    active = options.startRole(assigned, {
      id,
      ask: (request) => line?.send({ type: 'leave-request', ...request }),
      failed: over.reject,
    })
  }

  const join = async () => {
    const { port } = server.address() as AddressInfo
    const broken = (error: Error | undefined) => {
      line = undefined
      clearInterval(beat)
      rejoin(performance.now() + options.reconnectMs, error)
    }
    line = await connectToBrain(options.join, options.token, onMessage, broken)
    line.send({
      type: 'hello',
      version: wireVersion,
      worker: facts,
      ...(options.launch !== undefined && { launch: options.launch }),
      pid: process.pid,
      address: { host: options.host, port },
      code: hashes,
      seq: ++seq,
      held: supervisor.report(),
    })
  }
  const rejoin = (until: number, error: Error | undefined) => {
    if (ended) return
    if (signal.aborted) return over.resolve()
    if (performance.now() >= until) {
      over.reject(new WireError(`lost ${options.join.origin}${error ? `: ${error.message}` : ''}`, true))
      return
    }
    setTimeout(() => {
      if (!ended) join().catch((cause: WireError) => rejoin(cause.final ? 0 : until, cause))
    }, 250)
  }

  const leave = () => {
    // Whoever ends has said so.
    if (ended) return
    if (!line || !beat) return over.resolve()
    line.send({ type: 'leaving' })
    leaving = setTimeout(over.resolve, options.leaveMs)
  }

  try {
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) over.resolve()
    // A program may take its time to start, and need not be waited for by who is to end.
    await Promise.race([pool.ready(), over.promise])
    if (signal.aborted) return
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, options.host, resolve)
    })
    await join()
    await over.promise
  } finally {
    ended = true
    clearInterval(beat)
    clearTimeout(leaving)
    await active?.close()
    line?.close()
    server.close()
    server.closeAllConnections()
    await pool.close()
  }
}
