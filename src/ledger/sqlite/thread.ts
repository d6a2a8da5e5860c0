/** Starts the ledger's thread and sends calls to it. A call ends when the thread replies or exits. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { LedgerError } from '../../lib/errors.ts'
import type { Collected } from '../collect.ts'
import type { LedgerRow, RecentQuery, WarmQuery, WarmRow } from '../ledger.ts'
import type { MetricsEntry, MetricsKey, MetricsRow } from '../metrics.ts'
import type { RetentionLimits } from '../retention.ts'
import type { Snapshot } from '../snapshots.ts'

export interface ThreadData {
  file: string
  busyMs: number
  pruneAfterMs: number
  pruneEveryMs: number
  retention: RetentionLimits
}

type Request =
  | { kind: 'open' }
  | { kind: 'write'; rows: LedgerRow[] }
  | { kind: 'write-metrics'; entries: MetricsEntry[] }
  | { kind: 'write-snapshots'; snapshots: Snapshot[] }
  | { kind: 'recent'; query: RecentQuery }
  | { kind: 'warm'; query: WarmQuery }
  | { kind: 'snapshots'; workload: string }
  | { kind: 'metrics'; key: MetricsKey }
  | { kind: 'recent-metrics'; query: RecentQuery }
  | { kind: 'count' }
  /** Merges the log into the file and closes it. A later call opens the file again. */
  | { kind: 'close' }

interface Results {
  open: undefined
  write: undefined
  'write-metrics': undefined
  'write-snapshots': undefined
  recent: Collected<LedgerRow>
  warm: Collected<WarmRow>
  snapshots: Collected<Snapshot>
  metrics: MetricsRow | undefined
  'recent-metrics': MetricsRow[]
  count: number
  close: undefined
}

export type Call = Request & { id: number }

/** `error` is only the message: error classes do not survive structured cloning. */
export type Reply = { id: number } & ({ value: unknown } | { error: string })

/** Sent without a call: a damaged file was renamed. */
export interface Notice {
  notice: string
}

export interface LedgerThread {
  /** Rejects with LedgerError. Calls are performed in order. */
  call<K extends Request['kind']>(request: Request & { kind: K }): Promise<Results[K]>
  /** Resolves when the thread has exited, for any reason. */
  readonly ended: Promise<void>
  /** Terminates the thread, even in the middle of a call. Resolves when it has exited. Idempotent. */
  end(): Promise<void>
}

/** Resolves when the thread has opened the file. On failure ends the thread and rejects with LedgerError. */
export async function startThread(
  data: ThreadData,
  onNotice: (notice: string) => void,
): Promise<LedgerThread> {
  // The extension is that of this file, so that it also works as published JavaScript.
  const entry = new URL(`./thread-main${extname(import.meta.url)}`, import.meta.url)
  // The thread does not inherit this process's flags, such as preloaded modules.
  const worker = new Worker(entry, { workerData: data, name: 'ledger', execArgv: [] })
  const waiting = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: LedgerError) => void }
  >()
  let lastId = 0
  let cause = 'without an error'
  worker.on('message', (reply: Reply | Notice) => {
    if ('notice' in reply) return onNotice(reply.notice)
    const call = waiting.get(reply.id)
    waiting.delete(reply.id)
    if ('error' in reply) call?.reject(new LedgerError(reply.error))
    else call?.resolve(reply.value)
  })
  worker.on('error', (error) => {
    cause = String(error)
  })
  const threadEnded = () => new LedgerError(`ledger ${data.file}: its thread exited (${cause}). Try again`)
  let alive = true
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      alive = false
      for (const call of waiting.values()) call.reject(threadEnded())
      waiting.clear()
      resolve()
    })
  })

  const thread: LedgerThread = {
    call: (request) =>
      new Promise((resolve, reject) => {
        if (!alive) return reject(threadEnded())
        const id = ++lastId
        waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
        worker.postMessage({ ...request, id })
      }),
    ended,
    end: async () => {
      await worker.terminate()
    },
  }
  try {
    await thread.call({ kind: 'open' })
    return thread
  } catch (error) {
    await thread.end()
    throw error
  }
}
