/** The secret that authorizes workers and fronts. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

export function newToken(): string {
  // A leading dash would look like an option on a command line.
  return randomBytes(24).toString('base64url').replace(/^-/, 'x')
}

export function bearer(token: string): string {
  return `Bearer ${token}`
}

/** Compares in constant time. */
export function isAuthorized(header: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(header ?? ''), digest(bearer(token)))
}
