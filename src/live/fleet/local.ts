/** A fleet of child processes of this process. */

import type { SendHandle } from 'node:child_process'
import type { Provider, ProviderEvents } from '../../model/provider.ts'
import { WorkerProcesses, type WorkerStart } from './worker-processes.ts'

export interface LocalFleetOptions {
  /** Called at each launch: the command that starts its worker, to which `--launch ID` is appended. */
  command(launch: string): readonly string[]
  /** Each worker is given one of these, appended as `--upstream URL`. Default: none. */
  upstreams?: readonly string[]
  /** Set if workers may become fronts: they then accept connections from this queue. */
  queue?(): SendHandle
  /** When the fleet closes, a worker that has not ended after this time is killed. Default 2,000. */
  graceMs?: number
  /** With which workers join. */
  token: string
  /** Further environment of workers. */
  env?: Record<string, string>
  log(line: string): void
}

export function localFleet(options: LocalFleetOptions, events: ProviderEvents): Provider {
  const { queue, log } = options
  const workers = new WorkerProcesses({ events, log, queue: () => queue?.() })
  return {
    launch: (launch) => workers.launch(launch, workerStart(options, launch)),
    joined: (launch) => workers.joined(launch),
    list: async () => workers.list(),
    terminate: (launch, graceMs) => workers.terminate(launch, graceMs),
    close: () => workers.close(options.graceMs),
  }
}

/** How the worker of this launch is started. */
export function workerStart(
  { command, upstreams, queue, token, env }: LocalFleetOptions,
  launch: string,
): WorkerStart {
  return {
    ...{ command: command(launch), token, wantsQueue: queue !== undefined },
    ...(upstreams && { upstreams }),
    ...(env && { env }),
  }
}
