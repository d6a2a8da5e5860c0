/** Sandboxes that call a handler in this process: for tests that need no real runtime. */

import type { Sandbox, StandFunction } from './service.ts'

type Handler = (event: never, context: { getRemainingTimeInMillis(): number }) => unknown

export function insideFunction(
  handler: Handler | (() => Promise<Handler>),
  { concurrency = 10, timeoutMs = 60_000, memoryMb = 512, boots = false } = {},
): StandFunction {
  const booted = boots ? (handler as () => Promise<Handler>)() : Promise.resolve(handler as Handler)
  booted.catch(() => {})
  return { memoryMb, timeoutMs, concurrency, start: () => insideSandbox(booted) }
}

function insideSandbox(booted: Promise<Handler>): Sandbox {
  let alive = true
  return {
    get alive() {
      return alive
    },
    async run({ payload, deadline }) {
      try {
        const handler = await booted
        const context = { getRemainingTimeInMillis: () => deadline - Date.now() }
        const answer = await handler(JSON.parse(payload.toString()) as never, context)
        return { payload: JSON.stringify(answer ?? null) }
      } catch (error) {
        const { name, message } = error as Error
        return { failed: { errorType: name, errorMessage: message, trace: [] } }
      }
    },
    end() {
      alive = false
    },
  }
}
