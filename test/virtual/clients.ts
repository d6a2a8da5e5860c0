/** Draws the requests of virtual clients from a seed. */

import { stream } from '../../src/lib/random.ts'
import type { Job } from '../../src/model/job.ts'
import { nominalRate } from '../../src/worker/rates.ts'
import type { FrontProcess } from './front-process.ts'
import type { Judge, Request } from './judge.ts'
import type { VirtualProcess, VirtualTime } from './time.ts'

export interface ClientParts {
  seed: number
  time: VirtualTime
  judge: Judge
  /** Requests arrive from the first to the second of these times. */
  between: readonly [number, number]
  fronts: readonly { process: VirtualProcess; front: FrontProcess }[]
}

export function planRequests(count: number, { seed, time, judge, between, fronts }: ClientParts): void {
  const random = stream(seed, 'requests')
  const [from, to] = between
  for (let number = 0; number < count; number++) {
    const at = from + random.next() * (to - from)
    const runMs = 5 + random.exponential() * 400
    const safeToRepeat = random.next() < 0.6
    const leavesAfterMs = random.next() < 0.05 ? random.next() * 1000 : undefined
    const deadlineMs = random.next() < 0.1 ? 2000 + random.next() * 10_000 : undefined
    time.plan(at, () => {
      const { process, front } = fronts[random.below(fronts.length)]!
      if (!process.alive) return
      const request: Request = {
        ...{ number, safeToRepeat, front: process, starts: 0, endings: [], disconnected: false },
      }
      judge.sent(request)
      time.schedule(at, 'input', process, () => {
        const job = jobOf(number, runMs, safeToRepeat, deadlineMs)
        const ended = judge.ended.bind(judge, request)
        const disconnect = front.request({ params: { request: number, runMs }, job, ended })
        if (leavesAfterMs === undefined) return
        time.schedule(time.now + leavesAfterMs, 'input', process, () => {
          request.disconnected = true
          disconnect()
        })
      })
    })
  }
}

function jobOf(number: number, runMs: number, safeToRepeat: boolean, deadlineMs: number | undefined): Job {
  const work = runMs * nominalRate('off')
  return {
    ...{ id: `job-${number}`, workload: 'job', work, low: work / 2, high: work * 2, memoryMb: 10 },
    ...(!safeToRepeat && { safeToRepeat: false }),
    ...(deadlineMs !== undefined && {
      deadlineAt: performance.timeOrigin + performance.now() + deadlineMs,
    }),
  }
}
