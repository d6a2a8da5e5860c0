/**
 * Preloaded into every process of a cluster: the time of day is off by the milliseconds in the file that `JUMPING_CLOCK` names, as
 * after a step of the system's clock. As with such a step, monotonic clocks and timers are not affected; nor is the time of files.
 */

import { readFileSync } from 'node:fs'

const file = process.env.JUMPING_CLOCK
const SystemDate = Date
const systemNow = Date.now
/** The file is read at most this often. */
const everyMs = 20
let [offMs, readAt] = [0, -Infinity]

function now() {
  if (performance.now() - readAt > everyMs) {
    readAt = performance.now()
    offMs = Number(readFileSync(file, 'utf8'))
  }
  return systemNow() + offMs
}

if (file !== undefined) {
  SystemDate.now = now
  globalThis.Date = new Proxy(SystemDate, {
    construct: (target, given, newTarget) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
    apply: () => new SystemDate(now()).toString(),
  })
}
