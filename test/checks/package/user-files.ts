/** What a user writes: workloads in TypeScript and JavaScript, programs that import the package, a tsconfig.json. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { libraryUse } from './library-use.ts'

export type PackageType = 'module' | 'commonjs'

const typescript = {
  module: `import { parameters, whole } from 'plimsoll/params'
import { defineWorkload, Refusal, reply } from 'plimsoll/workload'
import { sum } from './parts/sum.ts'

export default defineWorkload({
  name: 'typed',
  description: 'Adds up numbers, in TypeScript.',
  params: parameters({ n: whole({ min: 0, max: 1e9 }).default(10) }),
  features: ({ n }) => ({ n }),
  run({ n }, ctx) {
    if (n === 13) throw new Refusal(422, 'n: must not be 13')
    ctx.progress(0.5)
    return reply({ sum: sum(n) }, { status: 201 })
  },
})
`,
  commonjs: `const { parameters, whole } = require('plimsoll/params') as typeof import('plimsoll/params', { with: { 'resolution-mode': 'import' } })
const { defineWorkload, Refusal, reply } = require('plimsoll/workload') as typeof import('plimsoll/workload', { with: { 'resolution-mode': 'import' } })
const { sum } = require('./parts/sum.cts') as { sum(n: number): number }

module.exports = defineWorkload({
  name: 'typed',
  description: 'Adds up numbers, in TypeScript.',
  params: parameters({ n: whole({ min: 0, max: 1e9 }).default(10) }),
  features: ({ n }) => ({ n }),
  run({ n }, ctx) {
    if (n === 13) throw new Refusal(422, 'n: must not be 13')
    ctx.progress(0.5)
    return reply({ sum: sum(n) }, { status: 201 })
  },
})
`,
}

const sums = {
  module: `export function sum(n: number): number {
  let sum = 0
  for (let i = 0; i < n; i++) sum += i
  return sum
}
`,
  commonjs: `exports.sum = function sum(n: number): number {
  let sum = 0
  for (let i = 0; i < n; i++) sum += i
  return sum
}
`,
}

const plain = {
  module: `import { defineWorkload } from 'plimsoll/workload'

export default defineWorkload({ name: 'plain', description: 'In JavaScript.', run: ({ n }) => ({ twice: 2 * Number(n) }) })
`,
  commonjs: `const { defineWorkload } = require('plimsoll/workload')

module.exports = defineWorkload({ name: 'plain', description: 'In JavaScript.', run: ({ n }) => ({ twice: 2 * Number(n) }) })
`,
}

const configUse = `import { defineConfig, type PlimsollConfig } from 'plimsoll'

const one: PlimsollConfig = { workloads: 'workloads', port: 8080, min: 1 }
export const all: PlimsollConfig[] = [
  defineConfig(one),
  defineConfig({
    workers: { command: 'app --port {port}', health: '/health' },
    routes: [{ name: 'render', path: '/render/:scene', features: ({ query }) => ({ width: Number(query.width) }) }],
  }),
]
// @ts-expect-error An unknown option is an error.
export const wrong: PlimsollConfig = { prot: 8080 }
`

/** Without types of Node: a workload needs none. */
const workloadUse = `import { parameters, text, whole } from 'plimsoll/params'
import { defineWorkload, type JobContext, type Workload } from 'plimsoll/workload'

export const one: Workload<{ n: number; name: string }> = defineWorkload({
  name: 'one',
  description: '',
  params: parameters({ n: whole({ min: 1, max: 2 }), name: text({ maxLength: 9 }) }),
  run: async ({ n, name }, ctx: JobContext) => {
    const size: number = n + (await ctx.body.bytes()).length
    // @ts-expect-error A name is text.
    const wrong: number = name
    return [size, wrong]
  },
})
`

/** Strict, and with declarations of packages checked as well. */
const compilerOptions = {
  module: 'nodenext',
  moduleDetection: 'force',
  target: 'esnext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  allowImportingTsExtensions: true,
  skipLibCheck: false,
  noEmit: true,
}

/** Prints what each path exports. */
const exportsUse = (paths: readonly string[], load: (path: string) => string) =>
  `(async () => {
  const found = {}
  for (const [path, module] of [${paths.map((path) => `['${path}', ${load(path)}]`).join(', ')}]) found[path] = Object.keys(module).sort()
  console.log(JSON.stringify(found))
})()
`

export function writeUserFiles(folder: string, type: PackageType, paths: readonly string[]): void {
  const [ts, config] = type === 'module' ? ['.ts', 'ts'] : ['.cts', 'mts']
  const json = (value: unknown) => JSON.stringify(value, null, 2)
  const files: Record<string, string> = {
    [`workloads/typed${ts}`]: typescript[type],
    [`workloads/parts/sum${ts}`]: sums[type],
    'workloads/plain.js': plain[type],
    ...libraryUse(type),
    'use/config.mts': configUse,
    'use/workload.mts': workloadUse,
    'use/import.mjs': exportsUse(paths, (path) => `await import('${path}')`),
    'use/require.cjs': exportsUse(paths, (path) => `require('${path}')`),
    'tsconfig.json': json({
      compilerOptions: { ...compilerOptions, types: ['node'] },
      include: [`plimsoll.config.${config}`, 'workloads', 'use'],
    }),
    'tsconfig.bare.json': json({
      compilerOptions: { ...compilerOptions, types: [] },
      files: ['use/workload.mts'],
    }),
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}
