/** Decision log by component: balancer, autoscaler, queue, placement, retraining. */

import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs'
import { join } from 'node:path'
import { privateFile } from '../lib/private-files.ts'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import { explain } from './reasons.ts'

export type Component = 'balancer' | 'autoscaler' | 'queue' | 'placement' | 'retraining'

/** The deciding component of each action. Other actions are not logged. */
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

/** A larger file is renamed to `….1`, replacing the previous one, and a new file is started. */
const mostBytes = 16 * 1024 * 1024

export interface ComponentLog {
  observe(event: Event, actions: readonly Action[], now: number): void
  /** Also keeps lines of the general log that belong to a component. */
  line(text: string): void
  /** Resolves when everything is written. */
  close(): Promise<void>
}

/** Opens the component log if it is enabled, and returns a general log function that also feeds it. */
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

/** One JSON object per line. A write failure is reported once and disables the log. */
export function openComponentLog(file: string, report: (message: string) => void): ComponentLog {
  let bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  let broken = false
  let stream = open()

  function open(): WriteStream {
    return createWriteStream(file, { flags: 'a', mode: privateFile }).on('error', ({ message }) => {
      if (!broken) report(`components: ${file} cannot be written: ${message}`)
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
      // The file does not exist: nothing was written yet, or it was removed.
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
      // 'close' is also emitted if opening failed.
      if (!stream.closed) await new Promise<void>((resolve) => stream.once('close', resolve))
    },
  }
}

function entryOf(component: Component, { type, reason, ...rest }: Action & { reason: object }, at: number) {
  const { job, attempt, worker, launch, outcome } = rest as Record<string, string | number | undefined>
  const target = worker ?? (rest as { function?: string }).function
  return { at, component, type, job, attempt, worker: target, launch, outcome, why: explain(reason as never) }
}
