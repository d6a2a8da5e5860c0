/**
 * A process for tests, started with a low descriptor limit: it uses up all descriptors, starts a worker, a function and
 * a front, releases them, starts the three again, and prints what happened as JSON.
 */

import { closeSync, openSync } from 'node:fs'
import { localFleet } from '../fleet/local.ts'
import { FrontProcesses } from '../fronts/front-processes.ts'
import { LocalFunctions } from '../functions/local.ts'

const lines: string[] = []
const log = (line: string) => void lines.push(line)
const command = ['sh', '-c', 'exit 3']

const launches = new Map<string, (message: string) => void>()
const events = {
  launchFailed: (launch: string, message: string) => launches.get(launch)?.(message),
  gone: () => {},
}
const fleet = localFleet({ command: () => [...command, 'sh'], token: 't', env: {}, log }, events)
const launch = (id: string) =>
  new Promise<string>((resolve) => {
    launches.set(id, resolve)
    fleet.launch(id)
  })

const limits = { concurrency: 1, memoryMb: 100, timeoutMs: 10_000, keepWarmMs: 1_000 }
const functions = new LocalFunctions({ id: 'f', command, token: 't', log, ...limits })
const invoke = () =>
  functions
    .invoke('w', new AbortController().signal, async () => undefined)
    .then(
      () => 'started',
      ({ message }: Error) => message,
    )

const places = { sockets: [{ port: 0, handle: undefined, close() {} }], drainMs: 0 }
const startFront = async () => {
  const fronts = new FrontProcesses({ command, gone() {}, log })
  await fronts.open({ ...places, settings: () => ({ args: [], token: 't' }) }).catch(() => {})
  await fronts.close(0)
  return 'tried'
}

/** Loads what is loaded on demand. */
await launch('0')
const taken: number[] = []
try {
  for (;;) taken.push(openSync('/dev/null', 'r'))
} catch {
  // All are taken.
}
const exhausted = [await launch('1'), await invoke(), await startFront()]
for (const descriptor of taken) closeSync(descriptor)
const released = [await launch('2'), await invoke(), await startFront()]
await Promise.all([fleet.close(), functions.close()])
console.log(JSON.stringify({ exhausted, released, lines }))
