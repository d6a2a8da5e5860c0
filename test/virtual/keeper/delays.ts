/** `setTimeout` of `node:timers/promises` in virtual time. */

import { syncBuiltinESMExports } from 'node:module'
import promises from 'node:timers/promises'

/** Until it is disposed. Delays belong to the process that asks for them, as timers do. */
export function virtualDelays(): Disposable {
  const real = promises.setTimeout
  replace(
    <T>(ms?: number, value?: T, { signal }: { signal?: AbortSignal | undefined } = {}) =>
      new Promise<T>((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const aborted = () => {
          clearTimeout(timer)
          reject(signal!.reason)
        }
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', aborted)
          resolve(value as T)
        }, ms)
        signal?.addEventListener('abort', aborted, { once: true })
      }),
  )
  return { [Symbol.dispose]: () => replace(real) }
}

function replace(setTimeout: typeof promises.setTimeout): void {
  Object.assign(promises, { setTimeout })
  syncBuiltinESMExports()
}
