/** Receivers of webhooks: they confirm, refuse, are away, or confirm without the sender's learning of it. */

import type { Message } from '../../../src/keeper/webhooks/post.ts'
import type { Random } from '../../../src/lib/random.ts'
import type { VirtualProcess, VirtualTime } from '../time.ts'
import type { Judge } from './judge.ts'

export const receiverHost = 'hooks.example'
/** Part of the messages that take seconds. */
const slow = 0.35

export interface ReceiversParts {
  time: VirtualTime
  judge: Judge
  random: Random
  isCalm: boolean
}

export class Receivers {
  readonly #parts: ReceiversParts
  awayUntil = 0
  /** True: it fails no more. */
  isCalm: boolean

  constructor(parts: ReceiversParts) {
    this.#parts = parts
    this.isCalm = parts.isCalm
  }

  /** Resolves with the status of the answer. */
  post(process: VirtualProcess, { url, fields, body }: Message): Promise<number> {
    const { time, judge, random } = this.#parts
    const id = fields['webhook-id']!.replace('msg_', '')
    const { data } = JSON.parse(body) as { data: { id: string; state: string } }
    if (data.id !== id) judge.fail(`the webhook of job ${id} has the document of ${data.id}`)
    judge.posts(process, id)
    return new Promise((resolve, reject) => {
      const answer = (ms: number, status: number, isConfirmed: boolean) =>
        time.schedule(time.now + ms, 'input', process, () => {
          judge.postEnded(process, id, isConfirmed)
          if (status === 0) reject(new Error('ECONNRESET'))
          else resolve(status)
        })
      const ms = 1 + (random.next() < slow ? random.next() * 6_000 : random.exponential() * 200)
      time.plan(time.now + ms, () => {
        if (!process.alive) return
        const isAway = time.now < this.awayUntil
        const draw = this.isCalm ? 1 : random.next()
        if (isAway && draw < 0.5) return answer(random.next() * 15_000, 0, false)
        if (isAway || draw < 0.1) return answer(1, draw < 0.05 ? 302 : 500, false)
        if (url.endsWith('/disables')) return answer(1, 410, true)
        const isLost = draw > 0.9 && draw < 1
        judge.posted(id, data.state, true)
        answer(1, isLost ? 0 : 204, !isLost)
      })
    })
  }
}
