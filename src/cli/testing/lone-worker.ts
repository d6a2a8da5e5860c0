/** A real worker process without a cluster: this process stands for the brain. */

import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { acceptJoining, type WorkerConnection } from '../../wire/accept.ts'
import type { FromWorker, WorkerHello } from '../../wire/messages.ts'
import { attemptTokenOf, newTokens } from '../../wire/token.ts'
import { type Running, start } from './program.ts'

export interface LoneWorker {
  program: Running
  hello: WorkerHello
  connection: WorkerConnection
  /** Authorizes fronts. */
  attemptToken: string
  /** The last report of CPU time, and of the memory of slots for small jobs. */
  cpuMs(): number
  smallMb(): number
  /** Ends the worker, if it still runs. */
  close(): Promise<void>
}

/** Resolves when the worker has joined. */
export async function startLoneWorker(
  files: readonly string[],
  args: readonly string[] = [],
): Promise<LoneWorker> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-lone-'))
  const tokens = newTokens()
  writeFileSync(join(folder, 'token'), tokens.worker, { mode: 0o600 })
  const brain = createServer()
  await once(brain.listen(0, '127.0.0.1'), 'listening')
  const joined = Promise.withResolvers<{ connection: WorkerConnection; hello: WorkerHello }>()
  let reportedMs = 0
  let reportedMb = 0
  acceptJoining(brain, {
    tokens,
    handlers: {
      worker(connection, hello) {
        connection.onMessage = (message: FromWorker) => {
          if (message.type !== 'report') return
          reportedMs = message.cpuMs ?? 0
          reportedMb = message.smallMb ?? 0
        }
        connection.send({ type: 'welcome', epoch: 1, beatMs: 50, discipline: 'srpt', following: {} })
        joined.resolve({ connection, hello })
      },
      front: (connection) => connection.close(),
    },
  })
  const program = start([
    ...['worker', '--join', `http://127.0.0.1:${(brain.address() as AddressInfo).port}`],
    ...['--token-file', join(folder, 'token'), '--data', join(folder, 'data')],
    ...['--workloads', files.join(',')],
    ...args,
  ])
  const { connection, hello } = await Promise.race([
    joined.promise,
    program.ended.then(({ stderr }) => Promise.reject(new Error(`the worker ended: ${stderr}`))),
  ])
  return {
    ...{ program, hello, connection, attemptToken: attemptTokenOf(tokens.worker) },
    cpuMs: () => reportedMs,
    smallMb: () => reportedMb,
    async close() {
      connection.send({ type: 'end' })
      await program.ended
      brain.closeAllConnections()
      brain.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
