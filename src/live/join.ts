/** Decides whether a worker or a front that connects may join, and adds it to its registry. */

import type { FrontConnection, JoinHandlers, WorkerConnection } from '../wire/accept.ts'
import type { FrontHello } from '../wire/front-messages.ts'
import type { WorkerHello } from '../wire/messages.ts'
import type { SpareFleet } from './fleet/spares.ts'
import type { JoinedFronts, KnownFront } from './fronts/joined-fronts.ts'
import type { JoinedWorkers } from './joined-workers.ts'
import type { Versions } from './versions.ts'

export interface JoinParts {
  versions: Pick<Versions, 'refusal'>
  workers: Pick<JoinedWorkers, 'add'>
  fronts: Pick<JoinedFronts, 'known' | 'add' | 'resume'>
  fleet: Pick<SpareFleet, 'isSpare' | 'hold' | 'refuse'>
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
}

export function decideJoin(hello: WorkerHello | FrontHello, { refusal, isSpare, front }: Known): Decision {
  const isFront = hello.type === 'front'
  const known = isFront ? front(hello.id) : undefined
  const resumes = isFront && known !== undefined && known.session === hello.session
  const why =
    isFront && known?.isConnected && !resumes && !isSame(known.hello, hello)
      ? `a front ${hello.id} is here already`
      : refusal(hello, isFront ? 'front' : 'worker')
  if (why !== undefined) return { join: 'refused', why }
  if (resumes) return { join: 'resumed' }
  return { join: !isFront && isSpare(hello.launch) ? 'spare' : 'new' }
}

/** True: the same front, which has lost its session. */
function isSame(one: FrontHello, other: FrontHello): boolean {
  return one.pid === other.pid && one.instance === other.instance
}

/** Refused connections are logged at most this often, so that an attacker cannot fill the log. */
const refusalEveryMs = 10_000

/** Logs connections that are refused before they have said who they are. */
export function refusalLog(
  log: (line: string) => void,
  now = () => performance.now(),
): (address: string, why: string) => void {
  let [nextAt, unlogged] = [-Infinity, 0]
  return (address, why) => {
    if (now() < nextAt) return void unlogged++
    const more = unlogged === 0 ? '' : `; ${unlogged} more since the last message`
    log(`join: a connection from ${address} was refused: ${why}${more}`)
    nextAt = now() + refusalEveryMs
    unlogged = 0
  }
}

export function joinHandlers({ versions, workers, fronts, fleet, log }: JoinParts): JoinHandlers {
  const known: Known = {
    refusal: (hello, who) => versions.refusal(hello, who),
    isSpare: (launch) => fleet.isSpare(launch),
    front: (id) => fronts.known(id),
  }
  const refuse = (connection: WorkerConnection | FrontConnection, who: string, message: string) => {
    log(`${who}: refused: ${message}`)
    connection.send({ type: 'refused', message })
    connection.close()
  }
  return {
    worker(connection, hello) {
      const decision = decideJoin(hello, known)
      if (decision.join === 'refused') {
        refuse(connection, `worker ${hello.worker.id}`, decision.why)
        if (fleet.isSpare(hello.launch)) fleet.refuse(decision.why)
      } else if (decision.join === 'spare')
        fleet.hold((launch, bootMs) => workers.add(connection, { ...hello, launch }, bootMs))
      else workers.add(connection, hello)
    },
    front(connection, hello) {
      const decision = decideJoin(hello, known)
      if (decision.join === 'refused') refuse(connection, `front ${hello.id}`, decision.why)
      else if (decision.join === 'resumed') fronts.resume(connection, hello)
      else fronts.add(connection, hello)
    },
  }
}
