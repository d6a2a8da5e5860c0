/** Workers without a brain: they join an acceptor that tells them to share their core, and leaves them alone. */
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { localFleet } from '../../src/live/fleet/local.ts'
import type { Provider } from '../../src/live/fleet/provider.ts'
import { workerCommand } from '../../src/live/fleet/worker-command.ts'
import { listen, urlOf } from '../../src/live/listen.ts'
import { defaultMeter } from '../../src/meter/hooks.ts'
import { acceptJoining } from '../../src/wire/accept.ts'
import { incompatibility } from '../../src/wire/admission.ts'
import { newToken } from '../../src/wire/token.ts'
import { readCode } from '../../src/worker/workload-code.ts'
import { jobMemoryMb, unlimitedSlots, workerCount, workloadModules } from './setting.ts'

const main = fileURLToPath(new URL('../../src/cli/plimsoll.js', import.meta.url))
const bootLimitMs = 60_000
/** The last lines of all workers that explain a failure. */
const mostLines = 50

export interface BareWorker {
  host: string
  port: number
  pid: number
}

export interface BareWorkers {
  token: string
  workers: BareWorker[]
  /** Ends them all, then rejects if one of them had ended before, with what it printed. */
  stop(): Promise<void>
}

/** `before` is put before the command of each worker, for instance to pin it to a core. */
export async function startBareWorkers(
  dataDir: string,
  before: (worker: number) => string[] = () => [],
): Promise<BareWorkers> {
  const token = newToken()
  const { hashes } = await readCode(workloadModules, defaultMeter)
  const workers: BareWorker[] = []
  const joined = Promise.withResolvers<void>()
  const server = createServer()
  acceptJoining(server, token, {
    worker(connection, hello) {
      const refused = incompatibility(hello, hashes)
      if (refused !== undefined) joined.reject(new Error(refused))
      // Reports are not for us, and would end a connection that nobody has taken over.
      connection.onMessage = () => {}
      connection.send({ type: 'welcome', epoch: 1, beatMs: 1000, discipline: 'sharing', following: {} })
      workers.push({ ...hello.address, pid: hello.pid })
      if (workers.length === workerCount) joined.resolve()
    },
    front: (connection) => connection.close(),
  })
  await listen(server, 0, '127.0.0.1', 'the port of the workers')
  const fleets: Provider[] = []
  const lines: string[] = []
  const log = (line: string) => {
    lines.push(line)
    if (lines.length > mostLines) lines.shift()
  }
  let stopping = false
  let failure: Error | undefined
  const failed = (launch: string, message = 'ended') => {
    if (stopping) return
    failure ??= new Error([`worker ${launch}: ${message}`, ...lines].join('\n  '))
    joined.reject(failure)
  }
  const end = async () => {
    stopping = true
    await Promise.all(fleets.map((fleet) => fleet.close()))
    server.close()
    server.closeAllConnections()
  }
  const stop = async () => {
    await end()
    if (failure) throw failure
  }
  const late = setTimeout(() => failed('of the benchmark', 'did not come up'), bootLimitMs)
  try {
    for (let i = 0; i < workerCount; i++) {
      const options = {
        files: workloadModules,
        dataDir,
        slots: unlimitedSlots,
        max: workerCount,
        jobMemoryMb,
      }
      const start = [...before(i), process.execPath, main, 'worker']
      const command = workerCommand(
        { ...options, workerCommand: start },
        defaultMeter,
        urlOf(server, '127.0.0.1'),
      )
      const fleet = localFleet(
        { command: () => command, env: { PLIMSOLL_TOKEN: token }, log },
        { launchFailed: failed, gone: failed },
      )
      fleets.push(fleet)
      fleet.launch(`bench-${i}`)
    }
    await joined.promise
    return { token, workers, stop }
  } catch (error) {
    await end()
    throw error
  } finally {
    clearTimeout(late)
  }
}
