/**
 * Paths of code that a cluster keeps aside. A copy lies at `FOLDER/kept-code/ID` followed by the absolute path of the
 * original, so that each path alone tells the other.
 */

/** The folder, inside a data folder, that holds the copies. */
export const keptFolder = 'kept-code'

const root = new RegExp(`^(?:file://)?(/.*?/${keptFolder}/[0-9a-f]{16})(?=/)`)
const roots = new RegExp(`[^\\s'"\`(<]*?/${keptFolder}/[0-9a-f]{16}(?=/)`, 'g')

/** The folder of the copy to which a path belongs; undefined: it is no copy. */
export function keptRoot(path: string): string | undefined {
  return root.exec(path)?.[1]
}

/** The path, or `file:` address, of the original; that of anything else unchanged. */
export function originalPath(path: string): string {
  const found = root.exec(path)
  if (!found) return path
  return (path.startsWith('file://') ? 'file://' : '') + path.slice(found[0].length)
}

/** A text for people: stack traces and messages name originals. */
export function withOriginalPaths(text: string): string {
  return text.replace(roots, (found) => (found.startsWith('file://') ? 'file://' : ''))
}
