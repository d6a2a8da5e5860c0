/** Who may send requests to the admin port. */

import type { IncomingHttpHeaders } from 'node:http'
import { isLoopback } from '../lib/loopback.ts'
import { type Tokens, tokenRefusal } from '../wire/token.ts'

export interface AdminAccess {
  /** The address that the port listens on. */
  host: string
  /** Further names by which operators reach it. */
  names: readonly string[]
  tokens: Tokens
}

/** What a request tells about its sender. */
export interface Sender {
  method?: string | undefined
  headers: IncomingHttpHeaders
  socket: { localAddress?: string | undefined; remoteAddress?: string | undefined }
}

export interface GuardRefusal {
  status: 401 | 403 | 421
  code: string
  message: string
}

/** Why the sender is not an operator's program; undefined: it is one. Names in headers are compared, ports are not. */
export function senderRefusal(sender: Sender, { host, names }: AdminAccess): GuardRefusal | undefined {
  const { headers, socket } = sender
  const asked = nameIn(headers.host ?? '')
  const known = [host, socket.localAddress ?? '', ...names].map(nameIn)
  // A page of another site can make its own name lead to this address, but the browser still sends that name.
  if (!isLoopback(asked) && !known.includes(asked))
    return {
      status: 421,
      code: 'wrong-host',
      message: `Host = ${asked.slice(0, 200)}: must be this machine, the admin address or one of --admin-names.`,
    }
  const { origin, 'sec-fetch-site': site } = headers
  const isForeign = origin !== undefined && origin.replace(/^https?:\/\//, '') !== headers.host
  if (isForeign || (site !== undefined && site !== 'same-origin' && site !== 'none'))
    return {
      status: 403,
      code: 'cross-site',
      message: 'Pages of other sites may not send requests to the admin port.',
    }
  return undefined
}

/** Why an operator may not do this; undefined: it is allowed. Reading needs no token on loopback. */
export function operatorRefusal(sender: Sender, { host, tokens }: AdminAccess): GuardRefusal | undefined {
  const { method, headers } = sender
  if (isLoopback(host) && (method === 'GET' || method === 'HEAD')) return undefined
  const refusal = tokenRefusal(headers.authorization, 'operator', tokens)
  return refusal && { ...refusal, code: 'not-authorized', message: sentence(refusal.message) }
}

/** Why workers and fronts may not join from there; undefined: they may. Their token must not cross a network unencrypted. */
export function joinRefusal({ socket }: Sender): GuardRefusal | undefined {
  if (isThisMachine(socket)) return undefined
  return {
    status: 403,
    code: 'not-here',
    message:
      'workers and fronts of other machines join over TLS: start the cluster with --join-address and use tls://',
  }
}

/** True: the peer is a program of this machine. */
export function isThisMachine({ remoteAddress = '', localAddress }: Sender['socket']): boolean {
  return isLoopback(remoteAddress) || remoteAddress === localAddress
}

/** The host of `host:port` or `[host]:port`, in lower case. */
function nameIn(host: string): string {
  const plain = /^\[(.*)\](:\d+)?$/.exec(host)?.[1] ?? (isAddress(host) ? host : host.replace(/:\d*$/, ''))
  return plain.toLowerCase().replace(/\.$/, '')
}

/** An IPv6 address without brackets. */
function isAddress(host: string): boolean {
  return host.split(':').length > 2
}

function sentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`
}
