/** Decides whether a worker or a front that connects may join, and adds it to its registry. */

import { idRule, isId } from '../model/worker.ts'
import type { FrontConnection, JoinHandlers, WorkerConnection } from '../wire/accept.ts'
import type { FrontHello } from '../wire/front-messages.ts'
import type { WorkerHello } from '../wire/messages.ts'
import type { SpareFleet } from './fleet/spares.ts'
import type { JoinedFronts, KnownFront } from './fronts/joined-fronts.ts'
import { isSameProcess, type JoinedWorkers, type KnownWorker } from './joined-workers.ts'
import type { Leadership } from './leadership.ts'
import type { Versions } from './versions.ts'

export interface JoinParts {
  versions: Pick<Versions, 'refusal'>
  workers: Pick<JoinedWorkers, 'add' | 'known'>
  fronts: Pick<JoinedFronts, 'known' | 'add' | 'resume'>
  fleet: Pick<SpareFleet, 'isSpare' | 'hold' | 'refuse'>
  leadership: Pick<Leadership, 'refusal'>
  log(line: string): void
}

export type Decision =
  | { join: 'refused'; why: string }
  /** A front reconnects and continues its session. */
  | { join: 'resumed' }
  /** A worker was started ahead of need: it joins when a launch asks for one. */
  | { join: 'spare' }
  | { join: 'new' }

export interface Known {
  /** Why its code or its protocol is refused; undefined: it is not. */
  refusal(hello: WorkerHello | FrontHello, who: 'worker' | 'front'): string | undefined
  isSpare(launch: string | undefined): boolean
  front(id: string): KnownFront | undefined
  worker(id: string): KnownWorker | undefined
}

export function decideJoin(hello: WorkerHello | FrontHello, known: Known): Decision {
  return hello.type === 'front' ? decideFront(hello, known) : decideWorker(hello, known)
}

function decideFront(hello: FrontHello, { refusal, front }: Known): Decision {
  const known = front(hello.id)
  const resumes = known !== undefined && known.session === hello.session
  const isTaken = known?.isConnected && !resumes && !isSame(known.hello, hello)
  const taken = isTaken ? `a front ${hello.id} is here already` : undefined
  const why = badId(hello.id) ?? taken ?? refusal(hello, 'front')
  if (why !== undefined) return { join: 'refused', why }
  return { join: resumes ? 'resumed' : 'new' }
}

/** The id of a worker is free for another process as soon as its connection has closed. */
function decideWorker(hello: WorkerHello, { refusal, isSpare, worker }: Known): Decision {
  const { id } = hello.worker
  const why = badId(id) ?? whyTaken(id, worker(id), hello) ?? refusal(hello, 'worker')
  if (why !== undefined) return { join: 'refused', why }
  return { join: isSpare(hello.launch) ? 'spare' : 'new' }
}

function badId(id: unknown): string | undefined {
  return isId(id) ? undefined : `its id is ${JSON.stringify(id)?.slice(0, 80)}: must be ${idRule}`
}

function whyTaken(id: string, known: KnownWorker | undefined, hello: WorkerHello): string | undefined {
  if (!known?.isConnected || isSameProcess(known, hello)) return undefined
  const { pid, address } = known
  return `a worker with the id ${id} is connected already (process ${pid}, ${address.host}:${address.port}): choose another --id`
}

/** True: the same front, which has lost its session. */
function isSame(one: FrontHello, other: FrontHello): boolean {
  return one.pid === other.pid && one.instance === other.instance
}

export function joinHandlers(parts: JoinParts): JoinHandlers {
  const { versions, workers, fronts, fleet, leadership, log } = parts
  const known: Known = {
    refusal: (hello, who) => versions.refusal(hello, who),
    isSpare: (launch) => fleet.isSpare(launch),
    front: (id) => fronts.known(id),
    worker: (id) => workers.known(id),
  }
  const refuse = (connection: WorkerConnection | FrontConnection, who: string, message: string) => {
    log(`${who}: refused: ${message}`)
    connection.send({ type: 'refused', message })
    connection.close()
  }
  /** It comes again and again until another cluster leads, so nothing is logged. */
  const isSentAway = (connection: WorkerConnection | FrontConnection, follows: number | undefined) => {
    const message = leadership.refusal(follows)
    if (message === undefined) return false
    connection.send({ type: 'not-leader', message })
    connection.close()
    return true
  }
  return {
    worker(connection, hello) {
      if (isSentAway(connection, hello.follows)) return
      const decision = decideJoin(hello, known)
      if (decision.join === 'refused') {
        refuse(connection, `worker ${hello.worker.id}`, decision.why)
        if (fleet.isSpare(hello.launch)) fleet.refuse(decision.why)
      } else if (decision.join === 'spare')
        fleet.hold((launch, bootMs) => workers.add(connection, { ...hello, launch }, bootMs))
      else workers.add(connection, hello)
    },
    front(connection, hello) {
      if (isSentAway(connection, hello.follows)) return
      const decision = decideJoin(hello, known)
      if (decision.join === 'refused') refuse(connection, `front ${hello.id}`, decision.why)
      else if (decision.join === 'resumed') fronts.resume(connection, hello)
      else fronts.add(connection, hello)
    },
  }
}
