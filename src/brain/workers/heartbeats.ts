/**
 * A heartbeat on request: a worker that could not be reached is pinged, and is lost if it does not answer in time. The
 * answer limit does the same for a worker whose answer is late.
 */

import type { Concern } from '../core.ts'
import { setTimer } from '../timers.ts'
import { lose } from './leaving.ts'
import { isAnswered, ping } from './pings.ts'

export const heartbeats: Concern = {
  name: 'heartbeats',
  isActive: ({ limits }) => limits.answers?.heartbeatMs !== undefined,
  failed(core, { worker, inFunction }, kind) {
    if (kind !== 'unreachable' || inFunction || worker.pings.heartbeat) return
    const timer = setTimer(
      core,
      { kind: 'heartbeat', id: worker.id },
      core.now + core.limits.answers!.heartbeatMs!,
    )
    worker.pings.heartbeat = { ping: ping(core, worker), timer }
  },
  timers: {
    heartbeat(core, id) {
      const worker = core.workers.get(id)
      if (!worker?.pings.heartbeat) return
      const { ping } = worker.pings.heartbeat
      worker.pings.heartbeat = undefined
      if (isAnswered(worker, ping)) return
      lose(core, id, { code: 'heartbeat', answerMs: core.limits.answers!.heartbeatMs! })
    },
  },
}
