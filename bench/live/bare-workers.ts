/** Workers without a brain: an acceptor lets them join with the discipline `sharing`, and sends no further messages. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { localFleet } from '../../src/live/fleet/local.ts'
import { workerCommand } from '../../src/live/fleet/worker-command.ts'
import { listen, urlOf } from '../../src/live/listen.ts'
import { defaultMeter } from '../../src/meter/hooks.ts'
import type { Provider } from '../../src/model/provider.ts'
import { acceptJoining, type JoinHandlers } from '../../src/wire/accept.ts'
import { incompatibility } from '../../src/wire/admission.ts'
import { attemptTokenOf, newTokens, type Tokens } from '../../src/wire/token.ts'
import { readCode } from '../../src/worker/workload-code.ts'
import { bootLimitMs, jobMemoryMb, unlimitedSlots, workerCount, workloadModules } from './setting.ts'

const main = fileURLToPath(new URL('../../src/cli/plimsoll.js', import.meta.url))
/** Time allowed for the output of a worker that has ended. */
const outputMs = 2_000
/** The number of the workers' last lines that an error shows. */
const mostLines = 50

export interface BareWorker {
  host: string
  port: number
  pid: number
}

export interface BareWorkers {
  /** Authorizes attempts. */
  token: string
  workers: BareWorker[]
  /** Ends all workers. Rejects, with their output, if one had ended before. */
  stop(): Promise<void>
  /** Aborted when a worker ends before `stop`. */
  failed: AbortSignal
}

/** `before` prefixes the command of each worker, for instance to pin it to a core. */
export async function startBareWorkers(
  dataDir: string,
  before: (worker: number) => string[] = () => [],
): Promise<BareWorkers> {
  const tokens = newTokens()
  const { hashes } = await readCode(workloadModules, defaultMeter)
  const { server, workers, joined } = acceptBare(tokens, hashes)
  await listen(server, 0, '127.0.0.1', 'the port of the workers')
  const lines: string[] = []
  const ended = new AbortController()
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
    ended.abort(failure)
  }
  const fleets: Provider[] = []
  const end = async () => {
    stopping = true
    await Promise.all(fleets.map((fleet) => fleet.close()))
    server.close()
    server.closeAllConnections()
  }
  const stop = async () => {
    // Its output may still be on its way.
    const listed = await Promise.all(fleets.map((fleet) => fleet.list()))
    if (!failure && listed.flat().length < workerCount) await outputOf(ended.signal)
    await end()
    if (failure) throw failure
  }
  const late = setTimeout(() => failed('of the benchmark', 'did not come up'), bootLimitMs)
  try {
    for (let i = 0; i < workerCount; i++) {
      const command = commandOf(dataDir, before(i), urlOf(server, '127.0.0.1'))
      const fleet = localFleet(
        { command: () => command, token: tokens.worker, log },
        { launchFailed: failed, gone: failed },
      )
      fleets.push(fleet)
      fleet.launch(`bench-${i}`)
    }
    await joined.promise
    return {
      token: attemptTokenOf(tokens.worker),
      workers: [...workers.values()],
      stop,
      failed: ended.signal,
    }
  } catch (error) {
    await end()
    throw error
  } finally {
    clearTimeout(late)
  }
}

/** `joined` resolves when all workers have joined, and rejects if one is incompatible. */
function acceptBare(tokens: Tokens, hashes: Record<string, string>) {
  /** By process: a worker whose connection breaks joins again. */
  const workers = new Map<number, BareWorker>()
  const joined = Promise.withResolvers<void>()
  const server = createServer()
  const handlers: JoinHandlers = {
    worker(connection, hello) {
      const refused = incompatibility(hello, hashes)
      if (refused !== undefined) joined.reject(new Error(refused))
      // A connection without a handler is closed at the first report.
      connection.onMessage = () => {}
      connection.send({ type: 'welcome', epoch: 1, beatMs: 1000, discipline: 'sharing', following: {} })
      workers.set(hello.pid, { ...hello.address, pid: hello.pid })
      if (workers.size === workerCount) joined.resolve()
    },
    front: (connection) => connection.close(),
  }
  acceptJoining(server, { tokens, handlers })
  return { server, workers, joined }
}

/** Resolves when a worker's end has been noticed, or after a while. */
function outputOf(failed: AbortSignal): Promise<void> {
  const noticed = once(failed, 'abort', { signal: AbortSignal.timeout(outputMs) })
  return noticed.then(
    () => {},
    () => {},
  )
}

function commandOf(dataDir: string, before: readonly string[], url: string) {
  const options = {
    files: workloadModules,
    dataDir,
    slots: unlimitedSlots,
    max: workerCount,
    jobMemoryMb,
    workerCommand: [...before, process.execPath, main, 'worker'],
  }
  return workerCommand(options, defaultMeter, url)
}
