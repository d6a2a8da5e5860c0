import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { keptRoot, originalPath, withOriginalPaths } from '../lib/kept-path.ts'
import { codeHash } from './code-hash.ts'
import { keepCode, removeOldCode } from './kept-code.ts'

/** A project of these files, and its data folder. */
function project(t: TestContext, files: Record<string, string>) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plimsoll-kept-')))
  t.after(() => rmSync(folder, { recursive: true }))
  const write = (name: string, text: string) => {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }
  for (const [name, text] of Object.entries(files)) write(name, text)
  return { write, at: (name: string) => join(folder, name), dataDir: join(folder, '.plimsoll') }
}

test('a copy of code runs as its original did, also after that was edited', async (t) => {
  const { write, at, dataDir } = project(t, {
    'package.json': '{ "type": "module", "imports": { "#far": "./far.js" } }',
    'far.js': 'export default "far"',
    'node_modules/dep/package.json': '{ "name": "dep", "main": "main.js" }',
    'node_modules/dep/main.js': 'module.exports = "dep"',
    'work/table.txt': 'table',
    'work/main.ts': `
      import { readFileSync } from 'node:fs'
      import { createRequire } from 'node:module'
      import dep from 'dep'
      import far from '#far'
      import { near } from '../lib/near.ts'
      import rows from './rows.json' with { type: 'json' }
      const require = createRequire(import.meta.url)
      const old: string = require('./old.cjs')
      const table = readFileSync(new URL('table.txt', import.meta.url), 'utf8')
      export default [dep, far, near, rows.length, old, table]`,
    'work/rows.json': '[1, 2]',
    'work/old.cjs': 'module.exports = "old"',
    'lib/near.ts': 'export const near = "near" as string',
  })
  const hash = await codeHash(at('work/main.ts'))
  const kept = await keepCode({ files: [at('work/main.ts')], dataDir })
  for (const name of ['work/main.ts', 'lib/near.ts', 'work/old.cjs', 'work/rows.json'])
    write(name, 'syntax error (')
  const copy = kept.pathOf(at('work/main.ts'))
  const { default: found } = (await import(pathToFileURL(copy).href)) as { default: unknown }
  assert.deepEqual(found, ['dep', 'far', 'near', 2, 'old', 'table'])
  assert.equal(await codeHash(copy), hash, 'a copy has the hash of its original')
  assert.equal(originalPath(copy), at('work/main.ts'))
  assert.equal(keptRoot(copy), kept.root)
})

test('the same code is one version, and the oldest versions that are not in use are removed', async (t) => {
  const { write, at, dataDir } = project(t, { 'a.js': 'export default 0' })
  const keep = () => keepCode({ files: [at('a.js')], dataDir })
  const first = await keep()
  assert.equal((await keep()).id, first.id)
  for (let i = 1; i < 8; i++) {
    write('a.js', `export default ${i}`)
    await keep()
  }
  const versions = () => readdirSync(dirname(first.root))
  await removeOldCode(dataDir, [first.id])
  assert.equal(versions().length, 5)
  assert.ok(versions().includes(first.id))
  await removeOldCode(dataDir, [])
  assert.equal(versions().length, 4)
  assert.ok(!versions().includes(first.id))
})

test('a damaged copy is made complete', async (t) => {
  const { at, dataDir } = project(t, { 'a.js': "import './b.js'", 'b.js': '1' })
  const keep = () => keepCode({ files: [at('a.js')], dataDir })
  const copy = (await keep()).pathOf(at('b.js'))
  rmSync(copy)
  writeFileSync((await keep()).pathOf(at('a.js')), '')
  await keep()
  assert.equal(readFileSync(copy, 'utf8'), '1')
  assert.equal(readFileSync((await keep()).pathOf(at('a.js')), 'utf8'), "import './b.js'")
})

test('stack traces name the originals', () => {
  const root = '/srv/app/.plimsoll/kept-code/0123456789abcdef'
  assert.equal(
    withOriginalPaths(`at run (file://${root}/srv/app/a.ts:1:2)\n  at ${root}/srv/app/b.cjs:3`),
    'at run (file:///srv/app/a.ts:1:2)\n  at /srv/app/b.cjs:3',
  )
  assert.equal(originalPath(`file://${root}/srv/a%20b.ts`), 'file:///srv/a%20b.ts')
  assert.equal(originalPath('/srv/app/a.ts'), '/srv/app/a.ts')
})
