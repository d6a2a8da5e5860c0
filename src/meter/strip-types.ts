/** Removes TypeScript types with Node's type stripper, which replaces them by blanks. */
import { stripTypeScriptTypes } from 'node:module'

export function stripTypes(source: string): string {
  const { emitWarning } = process
  // Hides the warning that the stripper is experimental: Node itself strips types of this file by default.
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}
