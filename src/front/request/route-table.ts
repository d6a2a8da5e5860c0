/** Finds the route of a request: the first whose path and method match. */

import type { CheckedRoute } from '../../config/check-routes.ts'
import { partsOf } from '../../config/path-pattern.ts'
import { allow, RequestProblem } from '../problem.ts'

export interface FoundRoute {
  route: CheckedRoute
  /** The named parts of its path. */
  path: Record<string, string>
}

export class RouteTable {
  readonly routes: readonly CheckedRoute[]

  constructor(routes: readonly CheckedRoute[]) {
    this.routes = routes
  }

  /** Throws a 404 that lists the routes, or a 405 that lists the methods. */
  find(method: string, path: string): FoundRoute {
    const parts = partsOf(path)
    const allowed = new Set<string>()
    for (const route of this.routes) {
      const found = route.pattern.match(parts)
      if (!found) continue
      if (!route.methods || route.methods.includes(method)) return { route, path: found }
      for (const each of route.methods) allowed.add(each)
    }
    if (allowed.size > 0) allow(method, [...allowed])
    const routes = this.routes.map(describe)
    throw new RequestProblem(
      404,
      'no-route',
      `There is no route for ${path.slice(0, 200)}. There are: ${routes.join('; ')}.`,
      { fields: { routes } },
    )
  }
}

/** For example: GET, HEAD /render/:scene */
export function describe({ methods, pattern }: CheckedRoute): string {
  return `${methods?.join(', ') ?? 'any method'} ${pattern.text}`
}
