/** The door of a brain that a supervisor started: the supervisor holds the public port and runs the fronts. */

import { ConfigError } from '../../lib/errors.ts'
import type { Door } from '../fronts/door.ts'
import type { FrontStep } from '../fronts/front-processes.ts'
import { urlAt } from '../listen.ts'
import type { OpenRequest, ToBrain } from './messages.ts'
import type { SupervisorLink } from './supervisor-link.ts'

export interface SupervisedDoorParts {
  link: SupervisorLink
  protocol: 'http' | 'https'
  request(): OpenRequest
  /** A front's process has ended. */
  gone(id: string): void
}

export function supervisedDoor({ link, protocol, request, gone }: SupervisedDoorParts): Door {
  const opened = Promise.withResolvers<number>()
  const listening = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const fronts = new Set<string>()
  const steps = new Steps()
  let url = ''
  listening.promise.catch(() => {})

  link.onMessage((message: ToBrain) => {
    switch (message.type) {
      case 'opened':
        for (const front of message.fronts) fronts.add(front)
        return opened.resolve(message.port)
      case 'failed': {
        const problem = new ConfigError(message.message)
        opened.reject(problem)
        return listening.reject(problem)
      }
      case 'listening':
        return listening.resolve()
      case 'started':
        return void fronts.add(message.front)
      case 'gone':
        fronts.delete(message.front)
        return gone(message.front)
      case 'rolled':
        return steps.add(message.step)
      case 'roll-ended':
        return steps.end(message.error)
      case 'closed':
        return closed.resolve()
    }
  })

  return {
    async open() {
      const asked = request()
      link.send({ type: 'open', ...asked })
      url = urlAt(asked.host, await opened.promise, protocol)
    },
    url: () => url,
    // The supervisor has it, which starts the workers, too.
    queue: () => undefined,
    start: () => listening.promise,
    has: (front) => fronts.has(front),
    renew() {
      const { settings, memory } = request()
      link.send({ type: 'renew', settings, memory })
    },
    roll() {
      link.send({ type: 'roll' })
      return steps.read()
    },
    async close(graceMs) {
      link.send({ type: 'close', graceMs })
      await closed.promise
    },
  }
}

/** The steps of one roll at a time, as they are reported. */
class Steps {
  #reported: (FrontStep | { error: string | undefined })[] = []
  #more = Promise.withResolvers<void>()

  add(step: FrontStep): void {
    this.#push(step)
  }

  end(error: string | undefined): void {
    this.#push({ error })
  }

  async *read(): AsyncGenerator<FrontStep> {
    for (;;) {
      const next = this.#reported.shift()
      if (!next) {
        await this.#more.promise
        this.#more = Promise.withResolvers()
      } else if ('front' in next) yield next
      else if (next.error !== undefined) throw new Error(next.error)
      else return
    }
  }

  #push(next: FrontStep | { error: string | undefined }): void {
    this.#reported.push(next)
    this.#more.resolve()
  }
}
