/** The secret that workers join with. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

export function newToken(): string {
  return randomBytes(24).toString('base64url')
}

export function bearer(token: string): string {
  return `Bearer ${token}`
}

/** In constant time, whatever was given. */
export function isAuthorized(header: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(header ?? ''), digest(bearer(token)))
}
