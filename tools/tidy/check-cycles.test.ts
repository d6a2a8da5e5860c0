import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemsOf } from './testing/project.ts'

test('an import cycle is reported once, by its shortest path', (t) => {
  const contents = {
    'src/lib/a.ts': "import './b.ts'",
    'src/lib/b.ts': "import './c.ts'\nimport type { D } from './d.ts'",
    'src/lib/c.ts': "import './a.ts'",
    'src/lib/d.ts': "export * from './b.ts'",
  }
  assert.deepEqual(problemsOf(t, contents, { rooms: { lib: [] } }), [
    'src/lib/b.ts:2: import cycle (4 files are connected): src/lib/b.ts → src/lib/d.ts → src/lib/b.ts',
  ])
})

test('cycles outside of src/ count, cycles through test code do not', (t) => {
  const contents = {
    'bench/a.ts': "import './b.ts'",
    'bench/b.ts': "import './a.ts'",
    'test/testing/a.ts': "import './b.ts'",
    'test/testing/b.ts': "import './a.ts'",
  }
  assert.deepEqual(problemsOf(t, contents), [
    'bench/a.ts:1: import cycle (2 files are connected): bench/a.ts → bench/b.ts → bench/a.ts',
  ])
})
