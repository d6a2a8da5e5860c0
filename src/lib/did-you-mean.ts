/** Suggestions for mistyped names. */

/** For example `; did you mean status?`, or nothing if no name is similar. */
export function didYouMean(given: string, names: readonly string[]): string {
  const near = names
    .map((name) => ({ name, distance: distance(given.toLowerCase(), name) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.distance - b.distance)
  const prefixed = given.length >= 2 ? names.find((name) => name.startsWith(given.toLowerCase())) : undefined
  // For example --admin for --admin-url.
  const shorter = names.find((name) => given.toLowerCase().startsWith(`${name}-`))
  const best = near[0]?.name ?? prefixed ?? shorter
  return best === undefined ? '' : `; did you mean ${best}?`
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          ...[replaced, rows[i - 1]![j]! + 1, row[j - 1]! + 1],
          swapped ? rows[i - 2]![j - 2]! + 1 : Infinity,
        ),
      )
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
