/** Takes the types out of TypeScript, by Node's own stripper: what is left stays where it was. */
import { stripTypeScriptTypes } from 'node:module'

export function stripTypes(source: string): string {
  const { emitWarning } = process
  // Node says that its stripper is experimental; here it is Node's own choice to use it.
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}
