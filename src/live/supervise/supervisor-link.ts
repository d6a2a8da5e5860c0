/** The brain's side of the channel to the process that supervises it. */

import { ConfigError } from '../../lib/errors.ts'
import type { Tokens } from '../../wire/token.ts'
import type { RunningWorker } from '../fleet/worker-processes.ts'
import type { BrainMemory, FromBrain, ToBrain } from './messages.ts'

export interface SupervisorLink {
  /** Of this brain: greater than that of any brain before. */
  readonly epoch: number
  /** Of the brain before. Undefined: this is the first one. */
  readonly memory: BrainMemory | undefined
  /** True: the cluster leads others with the same store. */
  readonly leads: boolean
  /** Tokens that the environment of the supervisor gives. */
  readonly tokens: Partial<Tokens>
  /** The workers that the brain before launched, as this one was started. What happens to them follows as messages. */
  readonly workers: readonly RunningWorker[]
  send(message: FromBrain): void
  /** Messages that came before are delivered to all who ask for them in the same turn. */
  onMessage(take: (message: ToBrain) => void): void
  /** Closes the channel, which would keep this process alive. */
  close(): void
}

/** This process ends with its supervisor. */
export async function supervisorLink(): Promise<SupervisorLink> {
  if (!process.send) throw new ConfigError('--supervised: only for processes that plimsoll up starts')
  const end = () => process.exit(1)
  process.on('disconnect', end)
  if (!process.connected) end()
  const begun = Promise.withResolvers<Extract<ToBrain, { type: 'begin' }>>()
  const takers: ((message: ToBrain) => void)[] = []
  let early: ToBrain[] | undefined = []
  const deliver = (message: ToBrain) => {
    for (const take of takers) take(message)
  }
  process.on('message', (message: ToBrain) => {
    if (message.type === 'begin') begun.resolve(message)
    else if (early) early.push(message)
    else deliver(message)
  })
  const { epoch, memory, tokens, workers, leads } = await begun.promise
  return {
    ...{ epoch, memory, tokens, workers, leads },
    send: (message) => void process.send?.(message, undefined, {}, () => {}),
    onMessage(take) {
      if (takers.push(take) > 1) return
      setImmediate(() => {
        const waiting = early ?? []
        early = undefined
        for (const message of waiting) deliver(message)
      })
    },
    close() {
      process.off('disconnect', end)
      if (process.connected) process.disconnect()
    },
  }
}
