/** Whether a request to a program may be sent again when nobody knows what became of it. */

import type { CheckedRoute } from '../../config/check-routes.ts'
import type { RequestHead } from './request-head.ts'

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'])

/** True: an attempt that may have started can be retried. */
export function isSafeToRepeat(
  { repeat }: CheckedRoute,
  { method, headers }: Pick<RequestHead, 'method' | 'headers'>,
): boolean {
  return repeat ?? (safeMethods.has(method!) || headers['idempotency-key'] !== undefined)
}
