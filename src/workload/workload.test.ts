import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { codeHash, loadWorkloads } from './load.ts'
import type { StandardSchema } from './standard-schema.ts'
import { defineWorkload, reply, type WorkloadDefinition } from './workload.ts'

const good = { name: 'good', description: 'A workload', run: () => 1 }

function directory(t: TestContext, files: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), 'plimsoll-workload-'))
  t.after(() => rmSync(dir, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(dir, name, '..'), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  return dir
}

test('fills in defaults', () => {
  const workload = defineWorkload(good)
  assert.equal(workload.preemptible, true)
  assert.equal(workload.safeToRepeat({}), true)
  assert.equal(workload.deterministic({}), false)
  assert.equal(workload.deadlineMs, undefined)
  assert.equal(defineWorkload(defineWorkload({ ...good, deadlineMs: 1.5 })).deadlineMs, 1.5)
  assert.deepEqual(Object.keys(defineWorkload(workload)), Object.keys(workload))
  const read = defineWorkload(defineWorkload({ ...good, deterministic: true, cacheMs: 100 }))
  assert.deepEqual([read.deterministic({}), read.cacheMs], [true, 100])
  assert.equal(workload.maxParamsBytes, undefined)
  assert.equal(defineWorkload(defineWorkload({ ...good, maxParamsBytes: 5 })).maxParamsBytes, 5)
  const lanes = defineWorkload(defineWorkload({ ...good, lane: () => 'fast' }))
  assert.equal(lanes.lane?.({}), 'fast')
})

test('infers the type of the parameters from the schema', () => {
  const schema: StandardSchema<unknown, { n: number }> = {
    '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as { n: number } }) },
  }
  const workload = defineWorkload({
    ...good,
    params: schema,
    safeToRepeat: ({ n }) => n.toFixed() === '1',
    run: ({ n }) => n.toFixed(),
  })
  assert.equal(workload.safeToRepeat({ n: 2 }), false)
})

test('an invalid definition is rejected with the option, its value and what is allowed', () => {
  const refused: [object | null, RegExp][] = [
    [null, /not null/],
    [{ ...good, name: 'Bad name' }, /name = Bad name: must be lower-case letters/],
    [{ ...good, description: 3 }, /workload good: description = 3: must be a string/],
    [{ ...good, params: {} }, /params = .*: must be a Standard Schema/],
    [{ ...good, preemptible: 'no' }, /preemptible = no: must be true or false/],
    [{ ...good, safeToRepeat: 1 }, /safeToRepeat = 1: must be true, false or a function/],
    [{ ...good, deadlineMs: 0 }, /deadlineMs = 0: must be a number of milliseconds, more than 0/],
    [{ ...good, deadlineMs: '5' }, /deadlineMs = 5: must be a number/],
    [{ ...good, deadlineMs: Infinity }, /deadlineMs = Infinity: must be/],
    [{ ...good, maxParamsBytes: 0 }, /maxParamsBytes = 0: must be a whole number from 1 to 16777216/],
    [{ ...good, maxParamsBytes: 2 ** 24 + 1 }, /maxParamsBytes = 16777217: must be a whole number from 1/],
    [{ ...good, maxParamsBytes: '64k' }, /maxParamsBytes = 64k: must be/],
    [{ ...good, lane: 'browse' }, /lane = browse: must be a function of the parameters/],
    [{ ...good, deterministic: 'yes' }, /deterministic = yes: must be true, false or a function/],
    [{ ...good, deterministic: true, cacheMs: -1 }, /cacheMs = -1: must be a number of milliseconds/],
    [{ ...good, cacheMs: 5 }, /cacheMs = 5: must be left out where deterministic is not given/],
    [{ ...good, run: 'x' }, /run = x: must be a function/],
    [{ ...good, premptible: false }, /unknown option premptible; options are name, /],
  ]
  for (const [definition, message] of refused) {
    assert.throws(() => defineWorkload(definition as WorkloadDefinition<unknown>), {
      code: 'CONFIG',
      message,
    })
  }
})

test('rejects a reply with an invalid status or header', () => {
  assert.throws(() => reply('', { status: 99 }), /status = 99: must be a whole number from 200 to 599/)
  assert.throws(() => reply('', { headers: { 'a b': 'c' } }), /"a b": not a header name/)
  assert.throws(() => reply('', { headers: { a: 'b\r\nc: d' } }), /header a: must be a string of one line/)
})

test('modules export one workload or several', async (t) => {
  const one = (name: string) => `({ name: '${name}', description: '', run() {} })`
  const dir = directory(t, {
    'one.mjs': `export default ${one('one')}`,
    'two.mjs': `export default [${one('two')}, ${one('three')}]`,
  })
  const loaded = await loadWorkloads([join(dir, 'one.mjs'), join(dir, 'two.mjs')])
  assert.deepEqual(
    loaded.map(({ name }) => name),
    ['one', 'two', 'three'],
  )
  const twice = loadWorkloads([join(dir, 'one.mjs'), join(dir, 'one.mjs')])
  await assert.rejects(twice, { code: 'CONFIG', message: /^workload one is defined twice: in .* and in / })
})

test('loads CommonJS modules, also those compiled from ESM', async (t) => {
  const of = (name: string) => `{ name: '${name}', description: '', run: () => 1 }`
  const dir = directory(t, {
    'one.cjs': `module.exports = ${of('one')}`,
    'two.cts': `const two: object = ${of('two')}\nmodule.exports = [two]`,
    'three.cjs': `exports.__esModule = true\nexports.default = ${of('three')}`,
    'none.cjs': 'exports.__esModule = true',
  })
  const loaded = await loadWorkloads(['one.cjs', 'two.cts', 'three.cjs'].map((file) => join(dir, file)))
  assert.deepEqual(
    loaded.map(({ name }) => name),
    ['one', 'two', 'three'],
  )
  await assert.rejects(loadWorkloads([join(dir, 'none.cjs')]), {
    message: /none\.cjs: has no default export \(in CommonJS: module\.exports\)/,
  })
})

test('an unusable module is named with the reason', async (t) => {
  const dir = directory(t, {
    'empty.mjs': '',
    'throws.mjs': "throw new Error('not today')",
    'wrong.mjs': "export default { name: 'UP' }",
    'package.json': '{ "type": "commonjs" }',
    'esm.js': "export default { name: 'esm' }",
    'imports.js': "import 'node:fs'",
  })
  const load = (file: string) => loadWorkloads([join(dir, file)])
  await assert.rejects(load('missing.mjs'), {
    code: 'CONFIG',
    message: /missing\.mjs: no such file/,
  })
  await assert.rejects(load('empty.mjs'), { code: 'CONFIG', message: /empty\.mjs: has no default export/ })
  await assert.rejects(load('throws.mjs'), { code: 'CONFIG', message: /throws\.mjs: not today/ })
  for (const file of ['esm.js', 'imports.js']) {
    const message = new RegExp(`${file}: [^]*; rename the file to \\.mjs or \\.mts$`)
    await assert.rejects(load(file), { code: 'CONFIG', message })
  }
  await assert.rejects(load('wrong.mjs'), { code: 'CONFIG', message: /wrong\.mjs: workload UP: name = UP/ })
})

test('the hash covers all imports and does not depend on the folder', async (t) => {
  const files = {
    'main.ts': "import { a } from './lib/a.ts'\nexport { b } from '../x/lib/b.ts'\n// from './gone.ts'",
    'lib/a.ts': "export const a = () => import('./c.ts')",
    'lib/b.ts': "const c = require('./c')\nimport './../main.ts'",
    'lib/c.ts': 'export const c = 1',
    'lib/unused.ts': '1',
  }
  const dir = join(directory(t, {}), 'x')
  const write = (name: string, text: string) => {
    mkdirSync(join(dir, name, '..'), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  for (const [name, text] of Object.entries(files)) write(name, text)
  const hash = await codeHash(join(dir, 'main.ts'))
  assert.match(hash, /^[0-9a-f]{64}$/)
  const copy = join(dir, '../elsewhere/x')
  cpSync(dir, copy, { recursive: true })
  assert.equal(await codeHash(join(copy, 'main.ts')), hash)
  write('lib/unused.ts', '2')
  assert.equal(await codeHash(join(dir, 'main.ts')), hash)
  write('lib/c.ts', 'export const c = 2')
  assert.notEqual(await codeHash(join(dir, 'main.ts')), hash)
})
