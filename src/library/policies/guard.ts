/** Contains the faults of users' policies. */

import { PolicyError } from '../../lib/errors.ts'

/** What happens after a fault. Live: it is logged, and a default decision takes its place. In simulations: it is thrown. */
export type OnFault = (error: PolicyError) => void

/** The result of the policy's method, or the fallback if the method fails. */
export type Guard = <T>(method: string, call: () => T, fallback: () => T) => T

/** `what` names the policy in messages, for example `scheduler best-fit`. */
export function guardOf(what: string, onFault: OnFault): Guard {
  return (method, call, fallback) => {
    try {
      return call()
    } catch (error) {
      onFault(faultOf(`${what}: ${method}`, error))
      return fallback()
    }
  }
}

export function faultOf(where: string, cause: unknown): PolicyError {
  return new PolicyError(`${where}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
}

/** For simulations: a wrong policy ends the run. */
export const throwFault: OnFault = (error) => {
  throw error
}

/** Maximum number of different messages that are logged. */
const mostMessages = 100

/** For live clusters: each message is logged once. */
export function logFaults(log: (line: string) => void): { onFault: OnFault; last(): string | undefined } {
  const logged = new Set<string>()
  let last: string | undefined
  return {
    onFault({ message }) {
      last = message
      if (logged.has(message) || logged.size >= mostMessages) return
      logged.add(message)
      log(`${message}; a default decision takes its place`)
    },
    last: () => last,
  }
}

/** The policy that a factory returns, checked: the methods that it must have, and the optional ones. */
export function checkPolicy<T extends object>(
  what: string,
  policy: T,
  { must, may }: { must: readonly string[]; may: readonly string[] },
): T {
  if (typeof policy !== 'object' || policy === null)
    throw new PolicyError(`${what}: must return an object with ${must.join(', ')}, not ${String(policy)}`)
  const fields = policy as Record<string, unknown>
  for (const method of [...must, ...may]) {
    const isMissing = fields[method] === undefined
    if (isMissing ? may.includes(method) : typeof fields[method] === 'function') continue
    throw new PolicyError(`${what}: ${method} = ${String(fields[method])}: must be a function`)
  }
  return policy
}

/** Lower-case words, so that names stand in tables, logs and headers as they are. */
export function checkName(what: string, name: unknown, taken: readonly string[]): string {
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]*$/.test(name))
    throw new PolicyError(
      `${what}: name = ${String(name)}: must be lower-case letters, digits and hyphens, and begin with a letter`,
    )
  if (taken.includes(name))
    throw new PolicyError(`${what}: name = ${name}: is the name of a built-in policy; choose another`)
  return name
}
