/** The question to the estimator for a request to a route: its features, and a key that only equal requests share. */

import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { RouteRequest } from '../../config/config.ts'
import { restName } from '../../config/path-pattern.ts'
import type { Question } from '../../estimate/estimator.ts'
import { featuresOf } from '../../estimate/features.ts'
import type { Features } from '../../model/estimate.ts'
import { headBytes } from './body.ts'
import { newJobId } from './job-id.ts'
import { deepest, isDeeper } from './params.ts'
import type { FoundRoute } from './route-table.ts'
import type { RequestUrl } from './url.ts'

/** Longer targets are replaced by their hash. */
const longestKey = 512
/** Longer JSON yields no features: parsing it would delay other requests. */
const longestJson = 16 * 1024
/** Parts of `**` that become features. */
const mostParts = 8

export interface RouteQuestionParts {
  /** The hash of a route's code and of how its costs are measured. */
  codeOf(route: string): string
  log(line: string): void
}

export type RouteQuestioner = (
  found: FoundRoute,
  method: string,
  url: RequestUrl,
  request: Pick<IncomingMessage, 'headers'>,
  body: RouteBody,
) => Question

/** What is known of the body when the question is asked. */
export interface RouteBody {
  /** Undefined: it is sent in chunks. */
  announced: number | undefined
  /** Arrived so far. */
  bytes: number
  /** Its first bytes, if it is complete. */
  head: Buffer | undefined
}

export function routeQuestioner({ codeOf, log }: RouteQuestionParts): RouteQuestioner {
  const warned = new Set<string>()
  return ({ route, path }, method, url, request, body) => {
    const { name } = route
    const seen: RouteRequest = {
      method,
      path,
      query: firstOf(new URLSearchParams(url.query)),
      headers: joined(request.headers),
      json: route.needsJson ? jsonOf(request, body) : undefined,
      bytes: body.announced ?? (body.head ? body.bytes : 0),
    }
    const wrong = (why: string) => {
      if (warned.has(name)) return
      warned.add(name)
      log(`route ${name}: its features are invalid, so automatic ones are used: ${why}`)
    }
    const configured = route.features && (() => configuredFeatures(route.features!, seen))
    const facts = { bytes: seen.bytes, head: body.head ?? new Uint8Array() }
    const features = featuresOf(
      configured ? { features: configured } : {},
      shown(seen, route.methods),
      facts,
      wrong,
    )
    const params = { method, target: url.text }
    return { workload: name, codeHash: codeOf(name), key: keyOf(method, url.text, body), params, features }
  }
}

/** A request whose body is not completely known has a key of its own. */
function keyOf(method: string, target: string, body: RouteBody): string {
  if (!body.head || body.bytes > headBytes) return `?${newJobId()}`
  const asked = `${method} ${target}`
  const short = asked.length > longestKey ? `#${hash('sha256', asked, 'base64url')}` : asked
  return body.bytes > 0 ? `${short} ${body.bytes} ${hash('sha256', body.head, 'base64url')}` : short
}

function configuredFeatures(
  features: NonNullable<FoundRoute['route']['features']>,
  request: RouteRequest,
): Features {
  if (typeof features === 'function') return features(request)
  const found = Object.entries(features).map(([name, source]) => [name, source(request)] as const)
  return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as Features
}

/** The source of automatic features. The method counts if the route has several, and so does each part of `**`. */
function shown({ method, path, query, json }: RouteRequest, methods: readonly string[] | undefined): object {
  const { [restName]: rest, ...named } = path
  const parts = rest ? rest.split('/').slice(0, mostParts) : []
  const numbered = parts.map((part, i) => [`${i + 1}`, part] as const)
  return {
    ...(methods?.length !== 1 && { method }),
    path: { ...Object.fromEntries(numbered), ...named },
    query,
    ...(json !== undefined && { json }),
  }
}

/** Undefined: the body is not JSON, malformed, too long or too deeply nested. */
function jsonOf({ headers }: Pick<IncomingMessage, 'headers'>, { bytes, head }: RouteBody): unknown {
  if (!isJsonType(headers['content-type']) || !head || bytes === 0 || bytes > longestJson) return undefined
  if (isDeeper(head, deepest)) return undefined
  try {
    return JSON.parse(head.toString('utf8'))
  } catch {
    return undefined
  }
}

export function isJsonType(type: string | undefined): boolean {
  return /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type ?? '')
}

function firstOf(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...query].reverse())
}

function joined(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
}
