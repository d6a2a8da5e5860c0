/** Signatures by the Standard Webhooks scheme: receivers verify them with any of its libraries. */

import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** 256 random bits, in the form that receivers are given. */
export function newSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

export interface Signed {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

/** `id`: the same for every try of a message, so that receivers recognize repeats. */
export function sign(secret: string, id: string, now: number, body: string): Signed {
  const timestamp = `${Math.floor(now / 1000)}`
  const key = Buffer.from(secret.slice(prefix.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
