/** Fits models, synchronously or in a separate thread that does not block requests. */

import { extname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { FitRow } from './data.ts'
import { type FitOptions, fitModel, type Model } from './fit.ts'

export interface Fitter {
  /**
   * Fits a model to about `count` rows, which are collected when the fit starts, possibly later. Undefined if the rows
   * do not determine a model. Never rejects.
   */
  fit(count: number, rows: () => readonly FitRow[], options: FitOptions): Promise<Model | undefined>
  /** Idempotent. Fits under way resolve to undefined. */
  close(): Promise<void>
}

/** Fits in the calling thread: for tests, simulations and benchmarks. */
export function inlineFitter(): Fitter {
  return {
    fit: async (_, rows, options) => fitModel(rows(), options),
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

/** Fits of more rows are made one at a time; smaller ones are quick and start at once. */
const many = 100
/** After a large fit the thread rests for 50 times the fit's duration, so that fits take at most 2 % of a core. */
const usualRest = 50
/** A timer that is set for longer fires at once. */
const longestTimerMs = 2 ** 31 - 1

/** One shared thread; it starts on first use and does not keep the process alive. */
export function threadFitter(log: (line: string) => void, { rest = usualRest } = {}): Fitter {
  const waiting = new Map<number, (model: Model | undefined) => void>()
  const closed = new AbortController()
  let thread: Worker | undefined
  let calls = 0
  /** The end of the queue of large fits. */
  let lastLarge: Promise<unknown> = Promise.resolve()

  function start(): Worker {
    // Uses this file's extension, so that it also works as published JavaScript.
    const entry = new URL(`./fit-thread${extname(import.meta.url)}`, import.meta.url)
    const worker = new Worker(entry, { name: 'estimate', execArgv: [] })
    worker.unref()
    worker.on('message', ({ id, model }: FitAnswer) => {
      waiting.get(id)?.(model)
      waiting.delete(id)
    })
    worker.on('error', (error) => log(`estimate: the model thread failed: ${error.message}`))
    worker.on('exit', () => {
      if (thread === worker) thread = undefined
      for (const resolve of waiting.values()) resolve(undefined)
      waiting.clear()
    })
    return worker
  }

  function ask(rows: readonly FitRow[], options: FitOptions): Promise<Model | undefined> {
    thread ??= start()
    const { promise, resolve } = Promise.withResolvers<Model | undefined>()
    const id = ++calls
    waiting.set(id, resolve)
    thread.postMessage({ id, rows, options } satisfies FitCall)
    return promise
  }

  return {
    async fit(count, rows, options) {
      const turn = Promise.withResolvers<void>()
      if (count > many) {
        const before = lastLarge
        lastLarge = turn.promise
        await before
      }
      if (closed.signal.aborted) return undefined
      const began = performance.now()
      const model = await ask(rows(), options)
      const restMs = Math.min(longestTimerMs, rest * (performance.now() - began))
      pause(restMs, undefined, { ref: false, signal: closed.signal }).then(turn.resolve, turn.resolve)
      return model
    },
    async close() {
      closed.abort()
      await thread?.terminate()
    },
  }
}
