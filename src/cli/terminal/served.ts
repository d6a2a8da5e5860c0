/** What a cluster serves, and how a request for it is addressed: a workload by its name, a route of an existing server. */

import { didYouMean } from '../../lib/did-you-mean.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { Client } from './client.ts'

/** An entry of `/-/workloads`. */
export interface Served {
  name: string
  description: string
  path: string
  /** Only routes of an existing server have it. Empty: any method. */
  methods?: string[]
  /** Query parameters that the estimates of a route depend on. Undefined: any may. */
  query?: string[]
}

export interface Address {
  method: string
  path: string
  /** Parameters that are not part of the path. */
  params: Record<string, string>
  /** True: parameters belong into the query. */
  isRoute: boolean
  /** For the person who asks. */
  note?: string
}

/** Undefined: the cluster does not tell. The request itself then shows what is wrong. */
export async function listServed(connection: Client): Promise<Served[] | undefined> {
  const { status, body } = await connection.send({ method: 'GET', path: '/-/workloads' })
  const text = await body.text()
  try {
    const list: unknown = JSON.parse(text).workloads
    return status === 200 && Array.isArray(list) ? (list as Served[]) : undefined
  } catch {
    return undefined
  }
}

/** `hasBody`: a body is sent too. */
export function addressOf(
  command: string,
  { workload: asked, params }: { workload: string; params: Record<string, string> },
  served: readonly Served[] = [],
  hasBody = false,
): Address {
  const routes = served.filter(({ methods }) => methods !== undefined)
  if (routes.length === 0) {
    const name = asked.replace(/^\//, '')
    return { method: 'POST', path: `/${encodeURIComponent(name)}`, params, isRoute: false }
  }
  if (asked.startsWith('/')) return { method: hasBody ? 'POST' : 'GET', path: asked, params, isRoute: true }
  const route = routes.find(({ name }) => name === asked)
  if (!route) {
    const names = routes.map(({ name }) => name)
    const meant = didYouMean(asked, names)
    throw new ConfigError(
      `${command}: ${asked} is not a route of this server${meant || '.'} Routes are ${names.join(', ')}; a path starts with a slash, such as /${asked}`,
    )
  }
  return addressOfRoute(command, route, params, hasBody)
}

function addressOfRoute(
  command: string,
  { name, path: pattern, methods = [], query }: Served,
  params: Record<string, string>,
  hasBody: boolean,
): Address {
  if (pattern.includes('**'))
    throw new ConfigError(
      `${command}: route ${name} is ${pattern}: give a path that matches it in place of ${name}, for example ${command} /some/path`,
    )
  const rest = { ...params }
  const path = pattern.replace(/:([^/]+)/g, (_, part: string) => {
    const value = rest[part]
    if (value === undefined)
      throw new ConfigError(`${command}: route ${name} is ${pattern}: must be given ${part}=VALUE`)
    delete rest[part]
    return encodeURIComponent(value)
  })
  const usual = hasBody ? 'POST' : 'GET'
  const method = methods.length === 0 || methods.includes(usual) ? usual : methods[0]!
  const unused = query ? Object.keys(rest).filter((each) => !query.includes(each)) : []
  const known = query?.join(', ') || 'none'
  const note = `${unused.join(', ')}: not among the parameters that estimates of route ${name} depend on (${known})`
  return { method, path, params: rest, isRoute: true, ...(unused.length > 0 && { note }) }
}
