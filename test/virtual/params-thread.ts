/** The thread in which a virtual front reads long parameters: its own event loop, on the same real code. */

import { EventEmitter } from 'node:events'
import { questioner } from '../../src/estimate/question.ts'
import { serveCall, type ThreadAnswer, type ThreadCall } from '../../src/front/request/params-call.ts'
import type { StartParamsThread } from '../../src/front/request/params-reader.ts'
import type { Workload } from '../../src/workload/workload.ts'
import { newProcess, type VirtualProcess, type VirtualTime } from './time.ts'

/** Time to load the workloads, and to pass a message. */
const [startMs, messageMs] = [300, 0.1]

export function virtualThreads(
  time: VirtualTime,
  front: VirtualProcess,
  workloads: ReadonlyMap<string, Workload>,
  fails: () => boolean,
): StartParamsThread {
  return ({ code }) => {
    const thread = newProcess(`thread of ${front.name}`)
    const toFront = new EventEmitter()
    const answer = (message: ThreadAnswer) =>
      time.schedule(Math.max(time.now, thread.frozenUntilMs) + messageMs, 'input', front, () => {
        if (thread.alive) toFront.emit('message', message)
      })
    thread.alive = !fails()
    if (!thread.alive)
      time.schedule(time.now, 'input', front, () => {
        toFront.emit('error', startError())
        toFront.emit('exit', 0)
      })
    const ask = questioner({ code, log: (log) => answer({ log }) })
    time.schedule(time.now + startMs, 'input', thread, () => answer({ ready: true }))
    return Object.assign(toFront, {
      postMessage: (call: ThreadCall) =>
        time.schedule(time.now + messageMs, 'input', thread, () => {
          void serveCall({ workloads, ask, answer }, call)
        }),
      terminate() {
        thread.alive = false
        return Promise.resolve(1)
      },
      ref() {},
      unref() {},
    })
  }
}

/** As Node reports it without a free descriptor. */
function startError(): Error {
  return Object.assign(new Error('Worker initialization failure: EMFILE'), { code: 'ERR_WORKER_INIT_FAILED' })
}
