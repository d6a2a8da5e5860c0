/** Slots start from a cache of their modules, and notice when a file has changed. */
import assert from 'node:assert/strict'
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { usePool } from './testing/use-pool.ts'

function folderOf(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-boot-'))
  const { NODE_COMPILE_CACHE } = process.env
  process.env.NODE_COMPILE_CACHE = join(folder, 'cache')
  t.after(() => {
    if (NODE_COMPILE_CACHE === undefined) delete process.env.NODE_COMPILE_CACHE
    else process.env.NODE_COMPILE_CACHE = NODE_COMPILE_CACHE
    rmSync(folder, { recursive: true })
  })
  mkdirSync(join(folder, 'lib'))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  write('package.json', '{"type":"module"}')
  write(
    'uses.js',
    "import { word } from './lib/word.js'\nexport default { name: 'uses', description: '', run: () => word }\n",
  )
  write('lib/word.js', "export const word = 'one'\n")
  /** What a new pool answers. Its first slot may have to rewrite code and leave no cache; it is not used. */
  const answer = async () => {
    const { pool, ask } = await usePool(t, { files: [join(folder, 'uses.js')] })
    const { body } = await ask('uses')
    // Its slots must not write to the folder after the test has removed it.
    await pool.close()
    return body
  }
  const caches = () => globSync(join(folder, 'cache/boot/*'))
  return { folder, write, answer, caches }
}

test('a changed file is loaded again, even if its length stays the same', async (t) => {
  const { write, answer, caches } = folderOf(t)
  assert.equal(await answer(), 'one')
  const [cache] = caches()
  assert.match(readFileSync(cache!, 'utf8'), /export const word = 'one'/)
  assert.equal(await answer(), 'one')
  write('lib/word.js', "export const word = 'two'\n")
  assert.equal(await answer(), 'two')
  assert.equal(await answer(), 'two')
  assert.match(readFileSync(cache!, 'utf8'), /export const word = 'two'/)
})

test('a package whose entry changes is resolved again', async (t) => {
  const { folder, write, answer } = folderOf(t)
  const inside = join(folder, 'node_modules/word')
  mkdirSync(inside, { recursive: true })
  write(
    'uses.js',
    "import { word } from 'word'\nexport default { name: 'uses', description: '', run: () => word }\n",
  )
  for (const word of ['one', 'two'])
    writeFileSync(join(inside, `${word}.js`), `export const word = '${word}'\n`)
  const entry = (name: string) =>
    writeFileSync(join(inside, 'package.json'), JSON.stringify({ type: 'module', exports: `./${name}.js` }))
  entry('one')
  assert.equal(await answer(), 'one')
  assert.equal(await answer(), 'one')
  entry('two')
  assert.equal(await answer(), 'two')
})

test('a package that is nearer than the one in the cache is found', async (t) => {
  const { folder, write, answer, caches } = folderOf(t)
  const install = (at: string, word: string) => {
    mkdirSync(join(folder, at, 'node_modules/word'), { recursive: true })
    write(join(at, 'node_modules/word/package.json'), '{"type":"module","exports":"./word.js"}')
    write(join(at, 'node_modules/word/word.js'), `export const word = '${word}'\n`)
  }
  install('.', 'far')
  write('lib/word.js', "export { word } from 'word'\n")
  assert.equal(await answer(), 'far')
  assert.equal(caches().length, 1)
  assert.equal(await answer(), 'far')
  install('lib', 'near')
  assert.equal(await answer(), 'near')
  assert.equal(await answer(), 'near')
})

test('a package.json that is nearer than the one in the cache counts', async (t) => {
  const { write, answer } = folderOf(t)
  write('package.json', '{"type":"module","imports":{"#word":"./lib/word.js"}}')
  write('lib/other.js', "export const word = 'other'\n")
  write('lib/inner.js', "export { word } from '#word'\n")
  write(
    'uses.js',
    "import { word } from './lib/inner.js'\nexport default { name: 'uses', description: '', run: () => word }\n",
  )
  assert.equal(await answer(), 'one')
  assert.equal(await answer(), 'one')
  write('lib/package.json', '{"type":"module","imports":{"#word":"./other.js"}}')
  assert.equal(await answer(), 'other')
})

test('a link that leads elsewhere is followed again', async (t) => {
  const { folder, write, answer } = folderOf(t)
  write('lib/other.js', "export const word = 'other'\n")
  write(
    'uses.js',
    "import { word } from './linked.js'\nexport default { name: 'uses', description: '', run: () => word }\n",
  )
  const link = (target: string) => {
    symlinkSync(join(folder, target), join(folder, 'new-link.js'))
    renameSync(join(folder, 'new-link.js'), join(folder, 'linked.js'))
  }
  link('lib/word.js')
  assert.equal(await answer(), 'one')
  assert.equal(await answer(), 'one')
  link('lib/other.js')
  assert.equal(await answer(), 'other')
})

test('a corrupt cache is replaced', async (t) => {
  const { answer, caches } = folderOf(t)
  assert.equal(await answer(), 'one')
  const [cache] = caches()
  const good = readFileSync(cache!, 'utf8')
  for (const bad of ['', '{}', '{"modules":[]}\n', good.slice(0, -5), good.slice(0, 50)]) {
    writeFileSync(cache!, bad)
    assert.equal(await answer(), 'one')
    assert.equal(readFileSync(cache!, 'utf8').length, good.length)
  }
})

test('old caches are removed', async (t) => {
  const { folder, answer, caches } = folderOf(t)
  mkdirSync(join(folder, 'cache/boot'), { recursive: true })
  for (let i = 0; i < 20; i++) {
    const old = join(folder, `cache/boot/old-${i}`)
    writeFileSync(old, '')
    utimesSync(old, i, i)
  }
  assert.equal(await answer(), 'one')
  const names = caches().map((path) => basename(path))
  assert.equal(names.length, 10)
  assert.ok(!names.includes('old-0') && names.includes('old-19'))
})

test('a cache that cannot be written does no harm', async (t) => {
  const { folder, answer } = folderOf(t)
  mkdirSync(join(folder, 'cache'))
  writeFileSync(join(folder, 'cache/boot'), 'not a folder')
  assert.equal(await answer(), 'one')
  assert.equal(await answer(), 'one')
})
