/** Checks the routes of a configuration and compiles them for matching. */

import { checkFields } from '../lib/check-fields.ts'
import { checkBoolean, checkNumber, invalid } from '../lib/checks.ts'
import { ConfigError } from '../lib/errors.ts'
import type { RouteConfig } from './config.ts'
import { type FeatureSource, featureSource, isJsonSource } from './feature-source.ts'
import { compilePattern, type PathPattern } from './path-pattern.ts'

export interface CheckedRoute {
  readonly name: string
  readonly pattern: PathPattern
  /** Undefined: all. */
  readonly methods: readonly string[] | undefined
  /** Time limit of its jobs. Undefined: that of the cluster. */
  readonly limitMs: number | undefined
  /** Sources by name, or the user's function. Undefined: automatic features. */
  readonly features: Readonly<Record<string, FeatureSource>> | RouteFunction | undefined
  /** Query parameters that features read. Undefined: any may matter. */
  readonly query: readonly string[] | undefined
  /** True: features read a JSON body. */
  readonly needsJson: boolean
  /** Undefined: decided by the method and the Idempotency-Key. */
  readonly repeat: boolean | undefined
  readonly preemptible: boolean
  readonly deadlineMs: number | undefined
  /** Everything that its features depend on, as text. When it changes, costs are learned from scratch. */
  readonly text: string
}

type RouteFunction = Extract<NonNullable<RouteConfig['features']>, (...args: never[]) => unknown>

const allowed = ['name', 'path', 'methods', 'features', 'repeat', 'preemptible', 'deadlineMs', 'limitMs']
/** Estimators ignore longer names. */
const longestFeature = 64

const everything: readonly RouteConfig[] = [{ name: 'server', path: '/**' }]

export function checkRoutes(given: unknown = everything): CheckedRoute[] {
  if (!Array.isArray(given) || given.length === 0) throw invalid('routes', given, 'a list of routes')
  const routes = given.map((route: unknown, i) => checkRoute(`routes[${i}]`, route))
  const names = routes.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) {
    throw new ConfigError(`routes: the name ${twice} is used twice`)
  }
  return routes
}

function checkRoute(option: string, given: unknown): CheckedRoute {
  const fields = checkFields(option, given, allowed)
  const { name } = fields
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]*$/.test(name)) {
    throw invalid(`${option}.name`, name, 'lower-case letters, digits and hyphens, starting with a letter')
  }
  const pattern = compilePattern(`${option}.path`, fields.path)
  const { features, needsJson, query } = checkFeatures(`${option}.features`, fields.features, pattern)
  const duration = (key: 'deadlineMs' | 'limitMs') =>
    fields[key] === undefined
      ? undefined
      : checkNumber(`${option}.${key}`, fields[key], { min: 1, max: 1e12 })
  const featuresText = typeof fields.features === 'function' ? String(fields.features) : fields.features
  return Object.freeze({
    name,
    pattern,
    methods: checkMethods(`${option}.methods`, fields.methods),
    features,
    query,
    needsJson,
    repeat: fields.repeat === undefined ? undefined : checkBoolean(`${option}.repeat`, fields.repeat),
    preemptible: checkBoolean(`${option}.preemptible`, fields.preemptible ?? true),
    deadlineMs: duration('deadlineMs'),
    limitMs: duration('limitMs'),
    text: JSON.stringify([name, pattern.text, featuresText]),
  })
}

function checkMethods(option: string, given: unknown): readonly string[] | undefined {
  if (given === undefined) return undefined
  const isMethod = (method: unknown) => typeof method === 'string' && /^[A-Z][A-Z-]*$/.test(method)
  if (!Array.isArray(given) || given.length === 0 || !given.every(isMethod)) {
    throw invalid(option, given, "a list of methods in capital letters, for example ['GET', 'POST']")
  }
  return given.includes('GET') && !given.includes('HEAD') ? [...given, 'HEAD'] : [...given]
}

function checkFeatures(
  option: string,
  given: unknown,
  { names }: PathPattern,
): Pick<CheckedRoute, 'features' | 'needsJson' | 'query'> {
  if (given === undefined || typeof given === 'function') {
    return { features: given as RouteFunction | undefined, needsJson: true, query: undefined }
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid(option, given, 'an object of sources, for example { width: "query.width" }')
  }
  const sources = Object.entries(given).map(([name, source]) => {
    if (name === '' || name.length > longestFeature) {
      throw invalid(option, name, `names of 1 to ${longestFeature} characters`)
    }
    return [name, featureSource(`${option}.${name}`, source, names)] as const
  })
  return {
    features: Object.fromEntries(sources),
    query: Object.values(given).flatMap((source) => /^query\.(.*)/s.exec(String(source))?.[1] ?? []),
    needsJson: Object.values(given).some((source) => isJsonSource(String(source))),
  }
}
