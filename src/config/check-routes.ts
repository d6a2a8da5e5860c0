/** Checks the routes of a configuration, and makes of them what requests are matched with. */

import { ConfigError } from '../lib/errors.ts'
import type { RouteConfig } from './config.ts'
import { type FeatureSource, featureSource, isJsonSource } from './feature-source.ts'
import { compilePattern, type PathPattern } from './path-pattern.ts'
import { fieldsOf, flagOf, numberOf, wrong } from './refuse.ts'

/** A route that can be used. */
export interface CheckedRoute {
  readonly name: string
  readonly pattern: PathPattern
  /** Undefined: all. */
  readonly methods: readonly string[] | undefined
  /** By name, or as the function that was given. Undefined: automatic ones. */
  readonly features: Readonly<Record<string, FeatureSource>> | RouteFunction | undefined
  /** True: features look into a JSON body. */
  readonly needsJson: boolean
  /** Undefined: it depends on the request. */
  readonly repeat: boolean | undefined
  readonly preemptible: boolean
  readonly deadlineMs: number | undefined
  /** What its features and their costs depend on, as text: when it changes, costs are learned anew. */
  readonly text: string
}

type RouteFunction = Extract<NonNullable<RouteConfig['features']>, (...args: never[]) => unknown>

const allowed = ['name', 'path', 'methods', 'features', 'repeat', 'preemptible', 'deadlineMs']
/** A name that is longer is not looked at by estimators. */
const longestFeature = 64

const everything: readonly RouteConfig[] = [{ name: 'server', path: '/**' }]

export function checkRoutes(given: unknown = everything): CheckedRoute[] {
  if (!Array.isArray(given) || given.length === 0) throw wrong('routes', given, 'a list of routes')
  const routes = given.map((route: unknown, i) => checkRoute(`routes[${i}]`, route))
  const names = routes.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) {
    throw new ConfigError(`routes: the name ${twice} is given twice; each route must have its own`)
  }
  return routes
}

function checkRoute(option: string, given: unknown): CheckedRoute {
  const fields = fieldsOf(option, given, allowed)
  const { name } = fields
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]*$/.test(name)) {
    throw wrong(`${option}.name`, name, 'lower-case letters, digits and hyphens, and begin with a letter')
  }
  const pattern = compilePattern(`${option}.path`, fields.path)
  const { features, needsJson } = checkFeatures(`${option}.features`, fields.features, pattern)
  const deadlineMs =
    fields.deadlineMs === undefined
      ? undefined
      : numberOf(`${option}.deadlineMs`, fields.deadlineMs, 0, { min: 1, max: 1e12 })
  const said = typeof fields.features === 'function' ? String(fields.features) : fields.features
  return Object.freeze({
    name,
    pattern,
    methods: checkMethods(`${option}.methods`, fields.methods),
    features,
    needsJson,
    repeat: flagOf(`${option}.repeat`, fields.repeat),
    preemptible: flagOf(`${option}.preemptible`, fields.preemptible) ?? true,
    deadlineMs,
    text: JSON.stringify([name, pattern.text, said]),
  })
}

function checkMethods(option: string, given: unknown): readonly string[] | undefined {
  if (given === undefined) return undefined
  const isMethod = (method: unknown) => typeof method === 'string' && /^[A-Z][A-Z-]*$/.test(method)
  if (!Array.isArray(given) || given.length === 0 || !given.every(isMethod)) {
    throw wrong(option, given, "a list of methods in capital letters, for example ['GET', 'POST']")
  }
  return given.includes('GET') && !given.includes('HEAD') ? [...given, 'HEAD'] : [...given]
}

function checkFeatures(
  option: string,
  given: unknown,
  { names }: PathPattern,
): Pick<CheckedRoute, 'features' | 'needsJson'> {
  if (given === undefined || typeof given === 'function') {
    return { features: given as RouteFunction | undefined, needsJson: true }
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw wrong(option, given, 'names with where they are found, for example { width: "query.width" }')
  }
  const sources = Object.entries(given).map(([name, source]) => {
    if (name === '' || name.length > longestFeature) {
      throw wrong(option, name, `names of 1 to ${longestFeature} letters`)
    }
    return [name, featureSource(`${option}.${name}`, source, names)] as const
  })
  return {
    features: Object.fromEntries(sources),
    needsJson: Object.values(given).some((source) => isJsonSource(String(source))),
  }
}
