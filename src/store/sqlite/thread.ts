/** Starts the store's thread and sends it batches of calls. A call ends when the thread replies or exits. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { StoreError } from '../../lib/errors.ts'
import type { Call, Reply, ResultOf, ThreadData } from './calls.ts'

export interface JobsThread {
  /** Rejects with StoreError. Calls made while the thread writes are its next batch. */
  call<K extends Call['kind']>(call: Call & { kind: K }): Promise<ResultOf<K>>
  /** Resolves when the thread has exited, for any reason. */
  readonly ended: Promise<void>
  /** Terminates the thread, even in the middle of a batch. Resolves when it has exited. Idempotent. */
  end(): Promise<void>
}

interface Waiting {
  call: Call
  resolve: (value: never) => void
  reject: (error: StoreError) => void
}

/** Limits how long a reply takes to be cloned, and thereby how long the main thread is blocked. */
const maxBatch = 1_000

/** The extension is that of this file, so that it also works as published JavaScript. */
const entry = new URL(`./thread-main${extname(import.meta.url)}`, import.meta.url)

/** Resolves when the thread has opened the file. On failure ends the thread and rejects with StoreError. */
export async function startThread(data: ThreadData): Promise<JobsThread> {
  // The thread does not inherit this process's flags, such as preloaded modules.
  const worker = new Worker(entry, { workerData: data, name: 'jobs', execArgv: [] })
  let queued: Waiting[] = []
  let alive = true
  let isScheduled = false
  let cause = 'without an error'
  const opening = Promise.withResolvers<undefined>()
  /** The batch that the thread performs; at first its opening. */
  let sent: Waiting[] = [{ call: { kind: 'close' }, ...opening }]

  /** The promises that just resolved may call again, so the batch is sent when they have. */
  function schedule(): void {
    if (isScheduled || sent.length > 0 || queued.length === 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      if (!alive) return
      sent = queued.splice(0, maxBatch)
      worker.postMessage(sent.map(({ call }) => call))
    })
  }

  function settle(replies: Reply[]): void {
    const settled = sent
    sent = []
    for (const [index, { resolve, reject }] of settled.entries()) {
      const reply = replies[index]!
      if ('error' in reply) reject(new StoreError(reply.error, reply.code))
      else resolve(reply.value as never)
    }
    schedule()
  }

  worker.on('message', settle)
  worker.on('error', (error) => {
    cause = String(error)
  })
  const threadEnded = () =>
    new StoreError(`${data.store}: its thread exited (${cause}). Try again`, 'STORE_UNKNOWN')
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      alive = false
      for (const { reject } of [...sent, ...queued]) reject(threadEnded())
      sent = []
      queued = []
      resolve()
    })
  })

  const thread: JobsThread = {
    call: (call) =>
      new Promise((resolve, reject) => {
        if (!alive) return reject(threadEnded())
        queued.push({ call, resolve, reject })
        schedule()
      }),
    ended,
    end: () => worker.terminate().then(() => {}),
  }
  try {
    await opening.promise
    return thread
  } catch (error) {
    await thread.end()
    throw error
  }
}
