/** Decision log by component: balancer, autoscaler, queue, placement, retraining. */

import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs'
import { join } from 'node:path'
import { Outage } from '../lib/outage.ts'
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

/** After a failure, the file is opened again when this time has passed. */
const usualRetryMs = 5_000

/** One JSON object per line. A failure to write is reported once, and its end once, with the number of lost lines. */
export function openComponentLog(
  file: string,
  report: (message: string) => void,
  retryMs = usualRetryMs,
): ComponentLog {
  let bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  /** When the present stream failed; undefined: it has not. */
  let failedAt: number | undefined
  let closed = false
  const outage = new Outage(
    {
      failed: (why) => `components: ${file} cannot be written: ${why}`,
      works: (lost) => `components: ${file} is written again; lines lost: ${lost.toLocaleString('en-US')}`,
    },
    report,
  )
  let stream = open()

  function open(): WriteStream {
    failedAt = undefined
    const opened = createWriteStream(file, { flags: 'a', mode: privateFile })
    return opened.on('error', ({ message }) => {
      outage.failed(message)
      if (opened === stream) failedAt = performance.now()
    })
  }
  /** Lines that waited behind the one that failed have the same cause. */
  function written(error: Error | null | undefined): void {
    if (error) outage.failed(outage.why ?? error.message, 1)
    else outage.works()
  }
  function write(entry: object): void {
    if (closed) return
    if (failedAt !== undefined) {
      if (performance.now() - failedAt < retryMs) return outage.failed(outage.why ?? '', 1)
      stream = open()
    }
    const text = `${JSON.stringify(entry)}\n`
    bytes += Buffer.byteLength(text)
    stream.write(text, written)
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
      closed = true
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
