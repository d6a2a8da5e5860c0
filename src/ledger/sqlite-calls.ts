/** Starts the ledger's thread and carries calls to it; a call ends with the thread's answer or with the thread. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { LedgerError } from '../lib/errors.ts'
import type { GrowthLimits } from './growth.ts'
import type { LedgerRow, RecentQuery, WarmQuery, WarmRow } from './ledger.ts'
import type { MetricsEntry, MetricsKey, MetricsRow } from './metrics.ts'
import type { Found } from './query.ts'
import type { Snapshot } from './snapshots.ts'

export interface ThreadData {
  file: string
  busyMs: number
  tidyAfterMs: number
  tidyEveryMs: number
  growth: GrowthLimits
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
  | { kind: 'count' }
  /** Moves everything into the one file. A later call would open it again. */
  | { kind: 'close' }

interface Answers {
  open: undefined
  write: undefined
  'write-metrics': undefined
  'write-snapshots': undefined
  recent: Found<LedgerRow>
  warm: Found<WarmRow>
  snapshots: Found<Snapshot>
  metrics: MetricsRow | undefined
  count: number
  close: undefined
}

export type Call = Request & { id: number }

/** Trouble is an error's message: classes do not survive the way between threads. */
export type Reply = { id: number } & ({ value: unknown } | { trouble: string })

/** Something that nobody asked for: a damaged file was moved aside. */
export interface Notice {
  notice: string
}

export interface LedgerThread {
  /** Rejects with LedgerError. Calls are performed in the order in which they are made. */
  ask<K extends Request['kind']>(request: Request & { kind: K }): Promise<Answers[K]>
  /** Resolves when the thread has ended, for whatever reason. */
  readonly ended: Promise<void>
  /** Ends it, whatever it is doing, and resolves when it has ended. Idempotent. */
  end(): Promise<void>
}

/** Resolves when the thread has opened the file; otherwise rejects with LedgerError, and the thread is gone. */
export async function startThread(
  data: ThreadData,
  onNotice: (notice: string) => void,
): Promise<LedgerThread> {
  // The extension is this file's own, so that it also works as published JavaScript.
  const entry = new URL(`./sqlite-thread${extname(import.meta.url)}`, import.meta.url)
  // This process's flags, such as preloaded modules, are not meant for the thread.
  const worker = new Worker(entry, { workerData: data, name: 'ledger', execArgv: [] })
  const waiting = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: LedgerError) => void }
  >()
  let lastId = 0
  let cause = 'it ended'
  worker.on('message', (reply: Reply | Notice) => {
    if ('notice' in reply) return onNotice(reply.notice)
    const call = waiting.get(reply.id)
    waiting.delete(reply.id)
    if ('trouble' in reply) call?.reject(new LedgerError(reply.trouble))
    else call?.resolve(reply.value)
  })
  worker.on('error', (error) => {
    cause = String(error)
  })
  const gone = () => new LedgerError(`ledger ${data.file}: its thread is gone (${cause}). Try again`)
  let alive = true
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      alive = false
      for (const call of waiting.values()) call.reject(gone())
      waiting.clear()
      resolve()
    })
  })

  const thread: LedgerThread = {
    ask: (request) =>
      new Promise((resolve, reject) => {
        if (!alive) return reject(gone())
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
    await thread.ask({ kind: 'open' })
    return thread
  } catch (error) {
    await thread.end()
    throw error
  }
}
