/**
 * Remembers which requests were answered in a way that only the general path can handle, so that they are not sent twice
 * again and again. A route with many such paths is odd as a whole.
 */

/** How long a path or a route takes the general path. */
const oddMs = 60_000
/** A route with more odd paths is odd. */
const mostPaths = 16

export class OddAnswers {
  /** By route: when each of its odd paths may be tried again. */
  readonly #routes = new Map<string, Map<string, number>>()
  readonly #now: () => number

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /** Returns true if the whole route has become odd. */
  add(route: string, path: string): boolean {
    let paths = this.#routes.get(route)
    if (!paths) {
      paths = new Map()
      this.#routes.set(route, paths)
    }
    this.#expire(route, paths)
    if (paths.size > mostPaths) return false
    paths.delete(path)
    paths.set(path, this.#now() + oddMs)
    this.#routes.set(route, paths)
    return paths.size > mostPaths
  }

  has(route: string, path: string): boolean {
    if (this.#routes.size === 0) return false
    const paths = this.#routes.get(route)
    if (!paths) return false
    this.#expire(route, paths)
    return paths.size > mostPaths || paths.has(path)
  }

  /** Paths are in the order in which they expire. */
  #expire(route: string, paths: Map<string, number>): void {
    const now = this.#now()
    for (const [path, until] of paths) {
      if (until > now) return
      paths.delete(path)
    }
    this.#routes.delete(route)
  }
}
