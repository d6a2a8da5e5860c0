/** Posts one message. Redirects are not followed: they could lead anywhere. */

import { lookup } from 'node:dns'
import { request as call } from 'node:http'
import { request as secureCall } from 'node:https'
import type { LookupFunction } from 'node:net'
import { hostOf, isInner, isNamed } from './targets.ts'

const limitMs = 15_000

export interface Message {
  url: string
  fields: Record<string, string>
  body: string
  hosts: readonly string[]
}

/** Resolves with the status of the answer. Rejects if there is none, or the host has an address that is not allowed. */
export function postMessage({ url: text, fields, body, hosts }: Message): Promise<number> {
  const url = new URL(text)
  return new Promise((resolve, reject) => {
    const sending = (url.protocol === 'https:' ? secureCall : call)(url, {
      method: 'POST',
      agent: false,
      timeout: limitMs,
      signal: AbortSignal.timeout(limitMs),
      headers: {
        'content-type': 'application/json',
        'content-length': `${Buffer.byteLength(body)}`,
        ...fields,
      },
      ...(!isNamed(hostOf(url), hosts) && { lookup: publicLookup }),
    })
    sending.on('timeout', () => sending.destroy(new Error(`no answer within ${limitMs / 1000} s`)))
    sending.on('error', reject)
    sending.once('response', (response) => {
      response.on('error', () => {}).resume()
      resolve(response.statusCode ?? 0)
      sending.off('error', reject).on('error', () => {})
      response.once('end', () => sending.destroy())
    })
    sending.end(body)
  })
}

/** The host has only addresses to which webhooks must not go. */
export class InnerAddress extends Error {}

/** The check is made on the address that is connected to: a name may have another one a moment later. */
const publicLookup: LookupFunction = (host, options, then) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return then(error, [])
    const allowed = addresses.filter(({ address }) => !isInner(address))
    const [first] = allowed
    if (!first) return then(new InnerAddress(`${host} is on an inner network`), [])
    if (options.all) then(null, allowed)
    else then(null, first.address, first.family)
  })
}
