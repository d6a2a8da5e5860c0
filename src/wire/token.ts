/** The secret that workers and fronts join with. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

export function newToken(): string {
  // On a command line, what begins with a dash would be taken for an option.
  return randomBytes(24).toString('base64url').replace(/^-/, 'x')
}

export function bearer(token: string): string {
  return `Bearer ${token}`
}

/** In constant time, whatever was given. */
export function isAuthorized(header: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(header ?? ''), digest(bearer(token)))
}
