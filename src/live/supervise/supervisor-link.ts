/** The brain's side of the channel to the process that supervises it. */

import type { SendHandle } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { ConfigError } from '../../lib/errors.ts'
import type { Tokens } from '../../wire/token.ts'
import type { BrainMemory, FromBrain, ToBrain } from './messages.ts'

export interface SupervisorLink {
  /** Of the brain before. Undefined: this is the first one. */
  readonly memory: BrainMemory | undefined
  /** Tokens that the environment of the supervisor gives. */
  readonly tokens: Partial<Tokens>
  send(message: FromBrain): void
  onMessage(take: (message: ToBrain, handle: SendHandle) => void): void
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
  const heard = new EventEmitter<{ message: [ToBrain, SendHandle] }>()
  process.on('message', (message: ToBrain, handle: SendHandle) => {
    if (message.type === 'begin') begun.resolve(message)
    else heard.emit('message', message, handle)
  })
  const { memory, tokens } = await begun.promise
  return {
    ...{ memory, tokens },
    send: (message) => void process.send?.(message, undefined, {}, () => {}),
    onMessage: (take) => void heard.on('message', take),
    close() {
      process.off('disconnect', end)
      if (process.connected) process.disconnect()
    },
  }
}
