/** Fits models: here and now, or in a thread of its own, so that nobody waits for it. */

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { FitRow } from './data.ts'
import { type FitOptions, fitModel, type Model } from './fit.ts'

export interface Fitter {
  /** Undefined: there was nothing to go by. Never rejects. */
  fit(rows: readonly FitRow[], options: FitOptions): Promise<Model | undefined>
  /** Idempotent. What is under way comes to nothing. */
  close(): Promise<void>
}

/** For tests, simulations and benchmarks: the answer is there when the promise is awaited. */
export function inlineFitter(): Fitter {
  return {
    fit: async (rows, options) => fitModel(rows, options),
    close: async () => {},
  }
}

export interface FitCall {
  id: number
  rows: readonly FitRow[]
  options: FitOptions
}

export interface FitAnswer {
  id: number
  model: Model | undefined
}

/** One thread for all who ask; it starts when it is first needed, and does not keep the process alive. */
export function threadFitter(log: (line: string) => void): Fitter {
  const waiting = new Map<number, (model: Model | undefined) => void>()
  let thread: Worker | undefined
  let calls = 0
  let closed = false

  function start(): Worker {
    // The extension is this file's own, so that it also works as published JavaScript.
    const entry = new URL(`./fit-thread${extname(import.meta.url)}`, import.meta.url)
    const worker = new Worker(entry, { name: 'estimate', execArgv: [] })
    worker.unref()
    worker.on('message', ({ id, model }: FitAnswer) => {
      waiting.get(id)?.(model)
      waiting.delete(id)
    })
    worker.on('error', (error) => log(`estimate: the thread that fits models failed: ${error.message}`))
    worker.on('exit', () => {
      if (thread === worker) thread = undefined
      for (const resolve of waiting.values()) resolve(undefined)
      waiting.clear()
    })
    return worker
  }

  return {
    fit(rows, options) {
      if (closed) return Promise.resolve(undefined)
      thread ??= start()
      const { promise, resolve } = Promise.withResolvers<Model | undefined>()
      const id = ++calls
      waiting.set(id, resolve)
      thread.postMessage({ id, rows, options } satisfies FitCall)
      return promise
    },
    async close() {
      closed = true
      await thread?.terminate()
    },
  }
}
