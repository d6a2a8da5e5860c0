/** Adds the hash of compiled workloads to the models that come with them: their code is the same, its text is not. */

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

type Code = typeof import('../../src/worker/workload-code.ts')
type Hooks = typeof import('../../src/meter/hooks.ts')

export async function addCompiledCode(dist: string): Promise<void> {
  const load = (path: string): Promise<unknown> => import(pathToFileURL(join(dist, path)).href)
  const { readCode } = (await load('src/worker/workload-code.js')) as Code
  const { defaultMeter } = (await load('src/meter/hooks.js')) as Hooks
  for (const name of globSync('workloads/*.model.json', { cwd: dist })) {
    const path = join(dist, name)
    const shipped = JSON.parse(readFileSync(path, 'utf8')) as { workload: string; code: string[] }
    const { hashes } = await readCode([path.replace(/\.model\.json$/, '.js')], defaultMeter)
    const code = [...new Set([...shipped.code, hashes[shipped.workload]!])]
    writeFileSync(path, `${JSON.stringify({ ...shipped, code })}\n`)
  }
}
