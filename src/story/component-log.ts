/** Decision log by component, a file for each: balancer, autoscaler, queue, placement, retraining. */

import { join } from 'node:path'
import type { Action } from '../model/action.ts'
import type { Event } from '../model/event.ts'
import { type LogFile, openLogFile } from './log-file.ts'
import { explain } from './reasons.ts'

/** How the names of their files end. */
const endings = {
  balancer: 'lb',
  autoscaler: 'as',
  queue: 'queue',
  placement: 'placement',
  retraining: 'retrain',
} as const

export type Component = keyof typeof endings
const components = Object.keys(endings) as Component[]

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

export interface ComponentLog {
  observe(event: Event, actions: readonly Action[], now: number): void
  /** Also keeps lines of the general log that belong to a component. */
  line(text: string): void
  /** Resolves when everything is written. */
  close(): Promise<void>
}

/** Opens the component log if it has a name, and returns a general log function that also feeds it. */
export function componentLogOf(options: {
  componentLog?: string
  dataDir: string
  log(line: string): void
}): { components: ComponentLog | undefined; log(line: string): void } {
  const { componentLog: name, dataDir } = options
  const opened = name === undefined ? undefined : openComponentLog(dataDir, name, options.log)
  const log = (line: string) => {
    opened?.line(line)
    options.log(line)
  }
  return { components: opened, log }
}

/** Opens one file for each component, `{name}-lb.log` and so on, in this folder. */
export function openComponentLog(
  folder: string,
  name: string,
  report: (message: string) => void,
): ComponentLog {
  const files = new Map<Component, LogFile>()
  for (const component of components)
    files.set(component, openLogFile(join(folder, `${name}-${endings[component]}.log`), report))
  return {
    observe(_event, actions, now) {
      for (const action of actions) {
        const component = componentOf[action.type]
        if (component && 'reason' in action) files.get(component)!.write(entryOf(component, action, now))
      }
    },
    line(text) {
      const retraining = /^retraining: (.*)$/.exec(text)?.[1]
      if (retraining === undefined) return
      files.get('retraining')!.write({ at: Date.now(), component: 'retraining', why: retraining })
    },
    async close() {
      await Promise.all([...files.values()].map((file) => file.close()))
    },
  }
}

function entryOf(component: Component, { type, reason, ...rest }: Action & { reason: object }, at: number) {
  const { job, attempt, worker, launch, outcome } = rest as Record<string, string | number | undefined>
  const target = worker ?? (rest as { function?: string }).function
  return { at, component, type, job, attempt, worker: target, launch, outcome, why: explain(reason as never) }
}
