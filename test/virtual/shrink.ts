/** Makes a failing run smaller: leaves out as much as possible of what was planned, while the same promise is broken. */

/** Runs to be tried; each may take a second. */
const mostTries = 300

/**
 * Numbers from 0 to `count - 1` that can be left out together. Large parts are tried first, then smaller ones, until no
 * single one can be left out.
 */
export async function leastOf(
  count: number,
  stillFails: (leftOut: ReadonlySet<number>) => boolean | Promise<boolean>,
): Promise<Set<number>> {
  let leftOut = new Set<number>()
  let tries = 0
  for (let size = Math.ceil(count / 2); size >= 1; ) {
    const before = leftOut.size
    const rest = () => Array.from({ length: count }, (_, i) => i).filter((i) => !leftOut.has(i))
    const parts = rest()
    // The last ones first: often the run has failed before they happen.
    for (let end = parts.length; end > 0 && tries < mostTries; end -= size) {
      const tried = new Set([...leftOut, ...parts.slice(Math.max(0, end - size), end)])
      tries++
      if (await stillFails(tried)) leftOut = tried
    }
    if (tries >= mostTries) break
    if (size > 1) size = Math.ceil(size / 2)
    else if (leftOut.size === before) break
  }
  return leftOut
}

/** A failure without times, ids and numbers. */
export function kindOf(failure = ''): string {
  return failure.replaceAll(/[0-9a-z]{9}-[0-9a-f]{32}|\d+(\.\d+)?/g, '#').slice(0, 80)
}
