/** Caches measurements in files. Work is exact: the same code and requests always give the same. */
import { createHash, randomUUID } from 'node:crypto'
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The maximum number of files per name. */
const mostKept = 6

/** Returns the cached value of this name with the same `facts`, or caches and returns that of `make`. */
export async function kept<Value>(
  name: string,
  facts: unknown,
  make: () => Promise<Value>,
): Promise<{ value: Value; isNew: boolean }> {
  const digest = createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 24)
  const file = join(folder(), `${name}-${digest}.json`)
  const known = read<Value>(file)
  if (known !== undefined) return { value: known, isNew: false }
  const value = await make()
  const draft = `${file}.${randomUUID()}`
  try {
    writeFileSync(draft, JSON.stringify(value))
    renameSync(draft, file)
    forgetOld(name)
  } finally {
    rmSync(draft, { force: true })
  }
  return { value, isNew: true }
}

/** Measurements of old code would otherwise pile up. */
function forgetOld(name: string): void {
  const files = readdirSync(folder())
    .filter((file) => file.startsWith(`${name}-`) && file.length === name.length + 30)
    .map((file) => join(folder(), file))
  const ages = new Map(files.map((file) => [file, statSync(file).mtimeMs]))
  files.sort((a, b) => ages.get(b)! - ages.get(a)!)
  for (const file of files.slice(mostKept)) rmSync(file, { force: true })
}

function folder(): string {
  for (const parent of [fileURLToPath(new URL('../../node_modules/.cache', import.meta.url)), tmpdir()]) {
    const folder = join(parent, 'plimsoll', 'estimate')
    try {
      mkdirSync(folder, { recursive: true })
      accessSync(folder, constants.W_OK)
      return folder
    } catch {
      // Try the next folder.
    }
  }
  throw new Error('cannot create a cache folder in node_modules/.cache or in the folder of temporary files')
}

function read<Value>(file: string): Value | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Value
  } catch {
    return undefined
  }
}
