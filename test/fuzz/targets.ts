/** All fuzz targets. Each is loaded alone: coverage is counted for every loaded module. */

import type { Target } from './target.ts'

/** By the file in `targets/` that exports them. */
const files: Readonly<Record<string, readonly string[]>> = {
  'http-front': ['http-front'],
  'http-routes': ['http-routes'],
  'json-parameters': ['json-parameters'],
  url: ['url'],
  headers: ['headers'],
  connections: ['proxy-header', 'stream-head'],
  'plain-head': ['plain-head'],
  wire: ['wire-lines', 'slot-frames', 'answer-head'],
  direct: ['program-answer', 'direct-frames'],
  servers: ['attempts', 'admin-port'],
  'kept-jobs': ['wish', 'keep-order', 'job-list'],
  pictures: ['png', 'jpeg', 'bmp', 'height-map', 'genomes'],
  config: ['config', 'option-text'],
  recordings: ['trace', 'event-log', 'access-log'],
}

/** With bugs, for the tests of the fuzzer. */
const planted: typeof files = { planted: ['planted-error', 'planted-loop', 'planted-exit', 'planted-maze'] }

export const targetNames: readonly string[] = Object.values(files).flat()

export async function loadTarget(name: string): Promise<Target> {
  const [file] = Object.entries({ ...files, ...planted }).find(([, names]) => names.includes(name)) ?? []
  if (file === undefined) throw new Error(`${name}: must be one of all, ${targetNames.join(', ')}`)
  const exported = Object.values((await import(`./targets/${file}.ts`)) as Record<string, unknown>).flat()
  const found = (exported as Partial<Target>[]).find((each) => each.name === name)
  if (!found) throw new Error(`${name}: is not exported by targets/${file}.ts`)
  return found as Target
}
