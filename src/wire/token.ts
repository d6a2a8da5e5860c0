/** The secrets of a cluster: one for each role, and those derived from them. */

import { hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/** Workers and fronts join with their token; operators change the cluster with theirs. */
export const roles = ['worker', 'front', 'operator'] as const
export type Role = (typeof roles)[number]
export type Tokens = Readonly<Record<Role, string>>

/** Proves a role. */
export interface Credential {
  role: Role
  token: string
}

/** Names the role that a connecting process claims. */
export const roleHeader = 'plimsoll-role'

/** 256 random bits. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

export function newTokens(): Tokens {
  return { worker: newToken(), front: newToken(), operator: newToken() }
}

export function bearer(token: string): string {
  return `Bearer ${token}`
}

/** Compares in constant time. */
export function isAuthorized(header: string | undefined, token: string): boolean {
  return authorizer(token)(header)
}

/** As `isAuthorized`, for many requests. The time tells at most the length, which is the same for all tokens. */
export function authorizer(token: string): (header: string | undefined) => boolean {
  const expected = Buffer.from(bearer(token))
  return (header = '') => {
    const given = Buffer.from(header)
    return given.length === expected.length && timingSafeEqual(given, expected)
  }
}

export interface TokenRefusal {
  status: 401 | 403
  message: string
}

/** Why a sender may not act in this role; undefined: it may. Compares with every token, so that the time tells nothing. */
export function tokenRefusal(
  header: string | undefined,
  role: Role,
  tokens: Tokens,
): TokenRefusal | undefined {
  const held = roles.filter((each) => isAuthorized(header, tokens[each]))
  if (held.includes(role)) return undefined
  if (held.length > 0)
    return { status: 403, message: `this is the ${held[0]} token; the ${role} token is required` }
  if (header === undefined) return { status: 401, message: `the ${role} token is required` }
  return { status: 401, message: `the token is wrong; the ${role} token is required` }
}

/** Authorizes attempts at workers and functions. Workers derive it from their token, and the brain tells fronts. */
export function attemptTokenOf(workerToken: string): string {
  return Buffer.from(derive(workerToken, 'attempts')).toString('base64url')
}

/** The pre-shared key of TLS connections that are authorized by a token. */
export function tlsKeyOf(token: string): Buffer {
  return Buffer.from(derive(token, 'tls'))
}

function derive(token: string, use: string): ArrayBuffer {
  return hkdfSync('sha256', token, 'plimsoll', use, 32)
}
