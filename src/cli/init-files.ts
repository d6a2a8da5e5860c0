/** The files that `init` writes, so that they run in the folder they are written to. */

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** What the files must fit. */
export interface Place {
  /** `.ts` is ESM only if the nearest package.json says so; `.mts` always is. */
  end: '.ts' | '.mts'
  /** False: the package cannot be imported there, for example because it is installed globally. */
  importable: boolean
}

export function placeOf(folder: string): Place {
  return { end: isModule(folder) ? '.ts' : '.mts', importable: canImport(folder) }
}

function isModule(folder: string): boolean {
  for (let at = folder, last = ''; at !== last; last = at, at = dirname(at)) {
    const file = join(at, 'package.json')
    if (!existsSync(file)) continue
    try {
      return (JSON.parse(readFileSync(file, 'utf8')) as { type?: unknown }).type === 'module'
    } catch {
      return false
    }
  }
  return false
}

function canImport(folder: string): boolean {
  try {
    createRequire(join(folder, 'plimsoll.config.ts')).resolve('plimsoll')
    return true
  } catch {
    return false
  }
}

export interface ServerAnswers {
  command: string
  health: string
  concurrency: number
}

export function serverConfig(place: Place, { command, health, concurrency }: ServerAnswers): string {
  const lines = [
    `command: ${quoted(command)},`,
    ...(health ? [`health: ${quoted(health)},`] : []),
    `concurrency: ${concurrency},`,
  ]
  return config(
    place,
    `{
  workers: {
    ${lines.join('\n    ')}
  },
  // Costs are learned per route. Its features are what the cost depends on, for example
  // features: { width: 'query.width', bytes: 'body.bytes' }; without them, path, query and body count.
  routes: [{ name: 'server', path: '/**' }],
}`,
  )
}

export function workloadConfig(place: Place): string {
  return config(place, "{\n  workloads: 'workloads',\n}")
}

function config({ importable }: Place, body: string): string {
  return importable
    ? `import { defineConfig } from 'plimsoll'\n\nexport default defineConfig(${body})\n`
    : `export default ${body}\n`
}

export function helloWorkload({ importable }: Place): string {
  return importable ? hello : helloWithoutImports
}

const hello = `import { parameters, whole } from 'plimsoll/params'
import { defineWorkload } from 'plimsoll/workload'

/** A first workload: what \`run\` returns is the answer, and what it does is metered and learned. */
export default defineWorkload({
  name: 'hello',
  description: 'Adds up the numbers below steps.',
  // Checked before anything runs. A maximum keeps a request from running forever.
  params: parameters({ steps: whole({ min: 0, max: 1_000_000_000 }).default(1000) }),
  run({ steps }) {
    let sum = 0
    for (let i = 0; i < steps; i++) sum += i
    return { hello: 'world', steps, sum }
  },
})
`

const helloWithoutImports = `/** A first workload: what \`run\` returns is the answer, and what it does is metered and learned. */
export default {
  name: 'hello',
  description: 'Adds up the numbers below steps.',
  // Checked before anything runs: a Standard Schema, which libraries such as zod write for you.
  params: { '~standard': { version: 1, vendor: 'hello', validate } },
  run({ steps }: Params) {
    let sum = 0
    for (let i = 0; i < steps; i++) sum += i
    return { hello: 'world', steps, sum }
  },
}

interface Params {
  steps: number
}

/** A query carries text, JSON carries numbers. A maximum keeps a request from running forever. */
function validate(given: unknown) {
  const { steps = 1000 } = given as { steps?: unknown }
  const value = { steps: typeof steps === 'string' && /^\\d+$/.test(steps) ? Number(steps) : steps }
  if (Number.isInteger(value.steps) && Number(value.steps) >= 0 && Number(value.steps) <= 1_000_000_000) return { value }
  return { issues: [{ message: 'must be a whole number from 0 to 1,000,000,000', path: ['steps'] }] }
}
`

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
