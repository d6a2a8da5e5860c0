/** Modules of all kinds are metered as they are loaded, in a separate process like a slot. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { after } from 'node:test'
import { pathToFileURL } from 'node:url'
import { defaultFormula } from '../model/metrics.ts'
import { isMetered, type MeterOptions } from './hooks.ts'
import type { MeteredRun } from './testing/run-metered.ts'

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'plimsoll-meter-')))
after(() => rmSync(scratch, { recursive: true }))

/** Writes the files to a new folder and runs the first one. */
function run(files: Record<string, string>, options: Partial<MeterOptions> = {}): MeteredRun {
  const folder = mkdtempSync(join(scratch, 'run-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return runFile(join(folder, Object.keys(files)[0]!), options)
}

function runFile(file: string, options: Partial<MeterOptions> = {}): MeteredRun {
  const all: MeterOptions = {
    mode: 'work',
    formula: defaultFormula,
    folders: [dirname(file)],
    packages: [],
    ...options,
  }
  const child = join(import.meta.dirname, 'testing/run-metered.ts')
  const args = ['--no-warnings', child, file, JSON.stringify(all)]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', stdio: 'pipe' })) as MeteredRun
}

const thrower = `interface Item {
  name: string
  price?: number
}

export default function total(): number {
  const items: Item[] = [{ name: 'a', price: 1 }, { name: 'b' }]
  let sum = 0
  for (let i = 0; i < 2; i++) {
    if (items[i]!.price === undefined) check(items[i] as Item, () => { throw new Error('no price') })
    sum += items[i]!.price!
  }
  return sum
}

const check = (item: Item, complain: () => void): void => (item.name ? complain() : undefined)
`

for (const mode of ['work', 'regions', 'routines'] as const) {
  test(`a stack trace of metered TypeScript names the author's lines and columns, in mode ${mode}`, () => {
    const { stack, rewrote } = run({ 'total.mts': thrower }, { mode })
    assert.deepEqual(rewrote, ['total.mts'])
    const positions = stack!.match(/total\.mts:\d+:\d+/g)
    assert.deepEqual(positions, ['total.mts:10:78', 'total.mts:16:72', 'total.mts:10:40'])
  })
}

const throwing = `const none: any = null
const no: any = undefined
const object: any = { get bad() { throw new Error('get') }, list: [1], deep: { valueOf() { throw new Error('value') } } }
const throwing: (() => unknown)[] = [
  () => none.x, () => none[no.y], () => no(), () => object.list.no(), () => (1, no)(), () => object['no'](),
  () => new no(), () => new (class { constructor() { none.z } })(), () => [...none], () => { const [a] = none; return a },
  () => { const { a } = none; return a }, () => { const {} = none }, () => object.bad, () => 1 + object.deep, () => -object.deep,
  () => object.deep < 1, () => 1n + (1 as any), () => no\`a\`, () => (none ?? no).x, () => none?.x.y ?? no(), () => no \u007c\u007c none.x,
  () => { for (const a of none) return a }, () => { throw /* why */ new Error('thrown') }, () => 'x' in none, () => 1 instanceof no,
  () => ((a: any) => a.b)(no), () => object.list.map((a: any) => a.b.c), () => JSON.parse('{'), () => unknownName, () => super_().x,
  () => {
    class Base {}
    return new (class extends Base { constructor() {
      if (none) super()
    } })()
  },
]
function super_(): any {
  for (let i = 0; i < 3; i++) if (i === 2) return no
}
export default () => throwing.map((each) => {
  try {
    return each()
  } catch (error) {
    return (error as Error).stack!.match(/throws\\.mts:\\d+:\\d+/g)!.slice(0, -1).join(' ')
  }
})`

for (const mode of ['work', 'regions'] as const) {
  test(`errors of all kinds of expressions have the positions of the author's code, in mode ${mode}`, async () => {
    const folder = mkdtempSync(join(scratch, 'plain-'))
    writeFileSync(join(folder, 'throws.mts'), throwing)
    const { default: plain } = await import(pathToFileURL(join(folder, 'throws.mts')).href)
    const expected = plain() as string[]
    assert.ok(expected.every((positions) => /^throws\.mts:/.test(positions)))
    assert.deepEqual(run({ 'throws.mts': throwing }, { mode }).result, expected)
  })
}

const spin = 'let s = 0; for (let i = 0; i < 1000; i++) s += i; return s'

test('JavaScript and TypeScript are metered, as modules and as CommonJS, with and without a type', () => {
  const files: Record<string, string> = {
    'main.mjs': `import { createRequire } from 'node:module'
      const require = createRequire(import.meta.url)
      const names = ['a.js', 'b.js', 'c.cjs', 'd.mjs', 'e.ts', 'f.ts', 'g.cts', 'h.mts', 'bare', 'marked.js']
      const required = names.map((name) => require('./' + name))
      const imported = await Promise.all(names.filter((name) => name !== 'bare').map((name) => import('./' + name + '?again')))
      export default () => [...required, ...imported].map((it) => (it.spin ?? it.default.spin)())`,
    'a.js': `exports.spin = function () { ${spin} }`,
    'b.js': `export function spin() { ${spin} }`,
    'c.cjs': `exports.spin = () => { ${spin} }`,
    'd.mjs': `export const spin = () => { ${spin} }`,
    'e.ts': `exports.spin = function (x: number = 1) { ${spin} }`,
    'f.ts': `export function spin(x: number = 1) { ${spin} }`,
    'g.cts': `exports.spin = function (x: number = 1) { ${spin} }`,
    'h.mts': `export function spin(x: number = 1) { ${spin} }`,
    bare: `#!/usr/bin/env node\nexports.spin = function () { ${spin} }`,
    'marked.js': `\uFEFFexports.spin = function () { ${spin} }`,
    'package.json': '{}',
  }
  const { result, work, rewrote } = run(files)
  assert.deepEqual(result, new Array(19).fill(499_500))
  assert.deepEqual(new Set(rewrote.map((name) => name.replace('?again', ''))).size, 11)
  assert.ok(work > 19 * 1000)
})

test('names that CommonJS modules re-export can still be imported', () => {
  const files = {
    'main.mjs': `import { a, b, c, d, e } from './star.cjs'
      export default () => [a(), b, c, d, e()]`,
    'star.cjs': `Object.defineProperty(exports, '__esModule', { value: true })
      var inner = require('./inner.cjs')
      Object.defineProperty(exports, 'a', { enumerable: true, get: function () { return inner.a; } })
      Object.defineProperty(exports, "b", {
        enumerable: true,
        get: function () {
          return inner.b;
        }
      })
      Object.keys(inner).forEach(function (key) {
        if (key === "default" || key === "__esModule") return;
        if (key in exports && exports[key] === inner[key]) return;
        Object.defineProperty(exports, key, {
          enumerable: true,
          get: function () {
            return inner[key];
          }
        });
      });
      exports.e = function () { let n = 0; while (n < 3) n++; return n }`,
    'inner.cjs': `exports.a = () => { for (let i = 0; ; i++) if (i > 5) return i }
      exports.b = 2; exports.c = 3
      ;(function (target) { if (target) { exports.d = 4 } })(exports)`,
  }
  assert.deepEqual(run(files).result, [6, 2, 3, 4, 3])
})

test('files that are not JavaScript, have syntax errors or use reserved names are not rewritten', () => {
  const files = {
    'main.mjs': `import { createRequire } from 'node:module'
      const require = createRequire(import.meta.url)
      import data from './data.json' with { type: 'json' }
      export default () => {
        let message
        try { require('./broken.cjs') } catch (error) { message = error.name }
        return [data.a, require('./data.json').a, require('./ours.cjs'), message]
      }`,
    'data.json': '{ "a": 1 }',
    'broken.cjs': 'function (',
    'ours.cjs': 'const $plimC = 5; module.exports = (() => $plimC)()',
  }
  assert.deepEqual(run(files).result, [1, 1, 5, 'SyntaxError'])
})

test('configured packages are metered, even if the meter itself uses them', () => {
  const file = join(import.meta.dirname, 'testing/parse-with-acorn.ts')
  const none = runFile(file)
  const named = runFile(file, { packages: ['acorn'] })
  assert.deepEqual(none.rewrote, ['parse-with-acorn.ts'])
  assert.deepEqual(new Set(named.rewrote), new Set(['parse-with-acorn.ts', 'acorn.mjs']))
  assert.equal(named.result, none.result)
  assert.ok(named.work > 10 * none.work)
})

test('only listed functions of a listed module are metered, and other modules count as before', () => {
  const files = {
    'main.mjs': `import { cheap, Maker } from './two.mjs'
      export default () => [cheap(), new Maker().dear(2000), new Maker().other(2000)]`,
    'two.mjs': `export const cheap = () => { let s = 0; for (const i of [1, 2]) s += i; return s }
      function turns(n) { let s = 0; for (let i = 0; i < n; i++) s += i * s % 7; return s }
      export class Maker { dear(n) { return [n].map((each) => turns(each))[0] } other(n) { return turns(n) + turns(n) } }`,
  }
  const folder = mkdtempSync(join(scratch, 'run-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const work = (functions?: string[]) => {
    const listed = [{ code: join(folder, 'two.mjs'), group: 1, ...(functions && { functions }) }]
    const { result, work } = runFile(join(folder, 'main.mjs'), { listed, cacheDir: join(scratch, 'listed') })
    assert.deepEqual(result, runFile(join(folder, 'main.mjs')).result)
    return work
  }
  const [all, turns, dear, cheap] = [work(), work(['turns']), work(['dear']), work(['cheap'])]
  assert.ok(all > turns && turns > 3 * 2000 * 20)
  assert.ok(dear < turns / 10 && cheap < dear)
  assert.equal(work(), all)
})

test('modules from the cache count the same work, and a damaged cache is ignored', () => {
  const cacheDir = join(scratch, 'cache')
  const file = join(mkdtempSync(join(scratch, 'run-')), 'main.mjs')
  writeFileSync(file, `export default () => { ${spin} }`)
  for (const mode of ['work', 'regions'] as const) {
    const first = runFile(file, { mode, cacheDir })
    const second = runFile(file, { mode, cacheDir })
    assert.deepEqual([first.rewrote, second.rewrote], [['main.mjs'], []])
    assert.deepEqual([second.result, second.work], [first.result, first.work])
  }
  for (const name of readdirSync(cacheDir)) writeFileSync(join(cacheDir, name), '{ "kept": ')
  const damaged = runFile(file, { cacheDir })
  assert.deepEqual([damaged.result, damaged.rewrote], [499_500, ['main.mjs']])
})

test('a workload folder that contains the meter does not make it meter itself', () => {
  const { dirname: here } = import.meta
  const url = (...path: string[]) => pathToFileURL(join(here, ...path)).href
  const root = { folders: [join(here, '..', '..')], packages: [] }
  assert.equal(isMetered(url('strip-types.ts'), root), false)
  assert.equal(isMetered(url('..', '..', 'workload.ts'), root), true)
  // A folder inside the sources is a workload's own, as in tests.
  assert.equal(
    isMetered(url('testing', 'run-metered.ts'), { ...root, folders: [join(here, 'testing')] }),
    true,
  )
})

test('workloads inside an npm package are metered, its dependencies are not', () => {
  const folder = join(scratch, 'node_modules', 'ready', 'workloads')
  const options = { folders: [folder], packages: [] }
  const metered = (...path: string[]) => isMetered(pathToFileURL(join(folder, ...path)).href, options)
  assert.equal(metered('julia.js'), true)
  assert.equal(metered('julia', 'glance.js'), true)
  assert.equal(metered('..', 'index.js'), false)
  assert.equal(metered('node_modules', 'zod', 'index.js'), false)
  assert.equal(metered('..', '..', 'zod', 'index.js'), false)
})
