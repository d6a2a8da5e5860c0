/** A log of what is decided, each line under the component that it is of: balancer, autoscaler, queue, placement, retraining. */

import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs'
import { join } from 'node:path'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import { explain } from './reasons.ts'

export type Component = 'balancer' | 'autoscaler' | 'queue' | 'placement' | 'retraining'

/** Who decides. Actions that are not here say nothing new. */
const componentOf: Readonly<Partial<Record<Action['type'], Component>>> = {
  run: 'placement',
  wait: 'queue',
  overflow: 'balancer',
  retry: 'balancer',
  answer: 'balancer',
  launch: 'autoscaler',
  abandon: 'autoscaler',
  drain: 'autoscaler',
  terminate: 'autoscaler',
}

/** A longer file is kept as `….1`, in place of the one before, and a new one begun. */
const mostBytes = 16 * 1024 * 1024

export interface ComponentLog {
  observe(event: Event, actions: readonly Action[], now: number): void
  /** Of the lines that rooms log, those of a component are kept too. */
  line(text: string): void
  /** Resolves when all is written. */
  close(): Promise<void>
}

/** The log of a cluster if it is to have one, and what takes the lines of its rooms. */
export function componentLogOf(options: {
  componentLog?: boolean
  dataDir: string
  log(line: string): void
}): { components: ComponentLog | undefined; log(line: string): void } {
  const file = join(options.dataDir, 'components.log')
  const components = options.componentLog ? openComponentLog(file, options.log) : undefined
  const log = (line: string) => {
    components?.line(line)
    options.log(line)
  }
  return { components, log }
}

/** One JSON object a line. A file that cannot be written is reported once, and that is all. */
export function openComponentLog(file: string, trouble: (message: string) => void): ComponentLog {
  let bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  let broken = false
  let stream = open()

  function open(): WriteStream {
    return createWriteStream(file, { flags: 'a' }).on('error', ({ message }) => {
      if (!broken) trouble(`components: ${file} cannot be written: ${message}`)
      broken = true
    })
  }
  function write(entry: object): void {
    if (broken) return
    const text = `${JSON.stringify(entry)}\n`
    bytes += Buffer.byteLength(text)
    stream.write(text)
    if (bytes <= mostBytes) return
    bytes = 0
    stream.end()
    try {
      renameSync(file, `${file}.1`)
    } catch {
      // Nothing has been written yet, or it was taken away.
    }
    stream = open()
  }

  return {
    observe(_event, actions, now) {
      for (const action of actions) {
        const component = componentOf[action.type]
        if (component && 'reason' in action) write(entryOf(component, action, now))
      }
    },
    line(text) {
      const retraining = /^retraining: (.*)$/.exec(text)?.[1]
      if (retraining !== undefined) write({ at: Date.now(), component: 'retraining', why: retraining })
    },
    async close() {
      stream.end()
      // It closes also where it could not be opened.
      if (!stream.closed) await new Promise<void>((resolve) => stream.once('close', resolve))
    },
  }
}

function entryOf(component: Component, { type, reason, ...rest }: Action & { reason: object }, at: number) {
  const { job, attempt, worker, launch, outcome } = rest as Record<string, string | number | undefined>
  const place = worker ?? (rest as { function?: string }).function
  return { at, component, type, job, attempt, worker: place, launch, outcome, why: explain(reason as never) }
}
