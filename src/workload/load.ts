/** Loads workloads, and hashes their code. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defaultExport } from '../lib/default-export.ts'
import { ConfigError } from '../lib/errors.ts'
import { originalPath } from '../lib/kept-path.ts'
import { defineWorkload, type Workload } from './workload.ts'

// An import would load all of its parts, which costs each slot 2 ms.
const { existsSync } = process.getBuiltinModule('node:fs')

/** Imports modules whose default export is a workload or an array of them. */
export async function loadWorkloads(files: string[]): Promise<Workload[]> {
  const found = new Map<string, { workload: Workload; file: string }>()
  for (const file of files) {
    for (const workload of await loadFile(file)) {
      const other = found.get(workload.name)
      if (other) {
        throw new ConfigError(
          `workload ${workload.name} is defined twice: in ${originalPath(other.file)} and in ${originalPath(file)}`,
        )
      }
      found.set(workload.name, { workload, file })
    }
  }
  return [...found.values()].map(({ workload }) => workload)
}

async function loadFile(file: string): Promise<Workload[]> {
  const path = resolve(file)
  if (!existsSync(path)) throw new ConfigError(`${file}: no such file`)
  const module: { default?: unknown } = await import(pathToFileURL(path).href).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`${originalPath(file)}: ${message}${moduleHint(message)}`, { cause: error })
  })
  const found = defaultExport(module)
  if (found === undefined) {
    throw new ConfigError(
      `${originalPath(file)}: has no default export (in CommonJS: module.exports); it must be a workload or an array of workloads. Modules that workloads import belong in a folder below, such as lib`,
    )
  }
  const exported = Array.isArray(found) ? found : [found]
  try {
    return exported.map((definition) => defineWorkload<unknown>(definition))
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(`${originalPath(file)}: ${error.message}`) : error
  }
}

/** What to do about a module in the syntax of the other kind. */
function moduleHint(message: string): string {
  if (/Cannot use import statement outside a module|Unexpected token 'export'/.test(message))
    return '. Files .js and .ts are CommonJS by the "type" of the nearest package.json; rename the file to .mjs or .mts'
  return ''
}

/** Hashes a workload's code. `code-hash.ts` is loaded on demand, because slots never need it. */
export async function codeHash(file: string): Promise<string> {
  return (await import('./code-hash.ts')).codeHash(file)
}
