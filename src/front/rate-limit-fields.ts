/** The fields that tell a client how much its rate limit leaves: draft-ietf-httpapi-ratelimit-headers. */

import type { Allowance } from '../model/allowance.ts'

const names = { policy: 'ratelimit-policy', left: 'ratelimit' } as const

/** Whole numbers, as the draft requires. Nothing is promised that is not there, so what is left is rounded down. */
export function rateLimitFields({ quota, windowS, left, fullS }: Allowance): Record<string, string> {
  return {
    [names.policy]: `"work";q=${most(quota)};w=${most(windowS)};qu="core-seconds"`,
    [names.left]: `"work";r=${Math.max(0, Math.floor(left))};t=${Math.max(0, Math.ceil(fullS))}`,
  }
}

function most(seconds: number): number {
  return Math.max(1, Math.round(seconds))
}

/** An answer that is shared or cached says nothing about the limits of the client that asked first. */
export function withoutRateLimit<T extends Record<string, unknown>>(account: T): T {
  const { [names.policy]: _policy, [names.left]: _left, ...rest } = account
  return rest as T
}
