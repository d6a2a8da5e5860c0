import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemsOf } from './testing/project.ts'

const rooms = { brain: ['lib'], lib: [] }
const files = { 'src/brain/a.ts': '', 'src/lib/b.ts': '', 'src/lib/c.ts': '' }

test('a room may import itself and the rooms in its line of the table', (t) => {
  const allowed = { ...files, 'src/brain/a.ts': "import '../lib/b.ts'", 'src/lib/b.ts': "import './c.ts'" }
  assert.deepEqual(problemsOf(t, allowed, { rooms }), [])
})

for (const statement of [
  "import { a } from '../brain/a.ts'",
  "import type { A } from '../brain/a.ts'",
  "import '../brain/a.ts'",
  "export { a } from '../brain/a.ts'",
  "export * from '../brain/a.ts'",
  "const a = await import('../brain/a.ts')",
  "type A = import('../brain/a.ts').A",
  "const a = require('../brain/a.ts')",
  "import '../brain/a.ts?again'",
]) {
  test(`a forbidden import is reported: ${statement}`, (t) => {
    assert.deepEqual(problemsOf(t, { ...files, 'src/lib/b.ts': `\n${statement}` }, { rooms }), [
      'src/lib/b.ts:2: lib may not import brain (src/brain/a.ts); allowed: nothing',
    ])
  })
}

test("imports of the package's own public names count", (t) => {
  const contents = {
    ...files,
    'package.json': JSON.stringify({ name: 'p', exports: { './brain': './src/brain/a.ts' } }),
    'src/lib/b.ts': "import 'p/brain'",
  }
  assert.match(problemsOf(t, contents, { rooms }).join(), /lib may not import brain/)
})

test('entry points of processes and imports inside strings do not count', (t) => {
  const entries = {
    ...files,
    'src/lib/b.ts': "new URL('../brain/a.ts', import.meta.url)\nconst text = `import '../brain/a.ts'`",
    'src/lib/c.ts': `await import(\`../brain/\${name}.ts\`)`,
  }
  assert.deepEqual(problemsOf(t, entries, { rooms }), [])
})

test('test code may import anything, and nothing else in src/ may import test code', (t) => {
  const crossing = "import '../brain/a.ts'"
  const testCode = {
    ...files,
    'src/lib/b.test.ts': crossing,
    'src/lib/contract.ts': crossing,
    'src/lib/row-contract.ts': crossing,
    'src/lib/testing/x.ts': "import '../../brain/a.ts'",
    'src/lib/fixtures/x.ts': "import '../../../test/x.ts'",
    'test/x.ts': '',
  }
  assert.deepEqual(problemsOf(t, testCode, { rooms }), [])
  assert.deepEqual(problemsOf(t, { ...testCode, 'src/lib/b.ts': "import './contract.ts'" }, { rooms }), [
    'src/lib/b.ts:1: imports test code: src/lib/contract.ts',
  ])
})

test('src/ imports only from src/', (t) => {
  const contents = { ...files, 'src/lib/b.ts': "import '../../bench/x.ts'", 'bench/x.ts': '' }
  assert.deepEqual(problemsOf(t, contents, { rooms }), [
    'src/lib/b.ts:1: imports bench/x.ts: src/ may import only from src/',
  ])
})

test('the table and the folders of src/ have the same rooms', (t) => {
  assert.deepEqual(problemsOf(t, { ...files, 'src/new/x.ts': '' }, { rooms: { ...rooms, old: [] } }), [
    'src/new/x.ts:1: room new is not in the table (tools/tidy/rooms.ts)',
    'tools/tidy/rooms.ts:1: room old has no files in src/old/',
  ])
})

test('a cycle in the table is reported', (t) => {
  assert.deepEqual(problemsOf(t, files, { rooms: { brain: ['lib'], lib: ['brain'] } }), [
    'tools/tidy/rooms.ts:1: the table of rooms has a cycle: brain → lib → brain',
  ])
})

test('at most three files are directly in src/', (t) => {
  const three = { 'src/a.ts': '', 'src/b.ts': '', 'src/c.ts': '' }
  assert.deepEqual(problemsOf(t, three, { rooms: { index: [] } }), [])
  assert.match(
    problemsOf(t, { ...three, 'src/d.ts': '' }, { rooms: { index: [] } }).join(),
    /^src:1: 4 files directly in src\/, at most 3 are allowed/,
  )
})
