/** Peers use few header names, so what is decided about a name is remembered. */

/** Names that a hostile peer invents must not take much memory. */
const mostNames = 1_000
const longestName = 64

export function rememberNames<T extends string>(decide: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>()
  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    const decided = decide(name)
    // A copy: a part of a string keeps all of it in memory.
    if (known.size < mostNames && name.length <= longestName)
      known.set(Buffer.from(name, 'latin1').toString('latin1'), decided)
    return decided
  }
}
