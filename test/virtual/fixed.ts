/** Makes what differs between two starts of this process the same: randomness, and what is in messages with its length. */

import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/** The process id that all virtual processes see. */
const virtualPid = 4_711

/** Until it is disposed. */
export function fixed(timeOrigin: number, random: () => number): Disposable {
  const before = { timeOrigin: performance.timeOrigin, pid: process.pid }
  const { random: realRandom } = Math
  const { randomUUID } = crypto
  Math.random = random
  setConstants({ timeOrigin, pid: virtualPid })
  setRandomUuid(() => uuidOf(random))
  return {
    [Symbol.dispose]() {
      Math.random = realRandom
      setConstants(before)
      setRandomUuid(randomUUID)
    },
  }
}

function setConstants({ timeOrigin, pid }: { timeOrigin: number; pid: number }): void {
  Object.defineProperty(performance, 'timeOrigin', { value: timeOrigin, configurable: true })
  Object.defineProperty(process, 'pid', { value: pid, configurable: true, enumerable: true })
}

function setRandomUuid(randomUUID: typeof crypto.randomUUID): void {
  Object.assign(crypto, { randomUUID })
  syncBuiltinESMExports()
}

function uuidOf(random: () => number): `${string}-${string}-${string}-${string}-${string}` {
  const digits = (count: number) =>
    Math.floor(random() * 16 ** count)
      .toString(16)
      .padStart(count, '0')
  return `${digits(8)}-${digits(4)}-4${digits(3)}-8${digits(3)}-${digits(12)}`
}
