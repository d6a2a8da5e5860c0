/** Fits models: here and now, or in a thread of its own, so that nobody waits for it. */

import { extname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { FitRow } from './data.ts'
import { type FitOptions, fitModel, type Model } from './fit.ts'

export interface Fitter {
  /**
   * A model of `count` rows or a few more: they are asked for when it is made, and that may be later. Undefined: there
   * was nothing to go by. Never rejects.
   */
  fit(count: number, rows: () => readonly FitRow[], options: FitOptions): Promise<Model | undefined>
  /** Idempotent. What is under way comes to nothing. */
  close(): Promise<void>
}

/** For tests, simulations and benchmarks: the answer is there when the promise is awaited. */
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

/** Models of more rows than these are made one at a time: the others take next to no time, and are awaited more. */
const many = 100
/** After one of them the thread rests for so many times as long as it took: models take at most this part of a core. */
const usualRest = 50
/** A timer that is set for longer fires at once. */
const longestTimerMs = 2 ** 31 - 1

/** One thread for all who ask; it starts when it is first needed, and does not keep the process alive. */
export function threadFitter(log: (line: string) => void, { rest = usualRest } = {}): Fitter {
  const waiting = new Map<number, (model: Model | undefined) => void>()
  const closed = new AbortController()
  let thread: Worker | undefined
  let calls = 0
  /** Those of many rows, one after the other. */
  let line: Promise<unknown> = Promise.resolve()

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
        const before = line
        line = turn.promise
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
