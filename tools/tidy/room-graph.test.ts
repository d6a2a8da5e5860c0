import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { describe } from './problem.ts'
import { mermaidGraph, textGraph } from './room-graph.ts'
import { project } from './testing/project.ts'
import { tidy } from './tidy.ts'

const rules = { rooms: { brain: ['lib'], cli: ['brain', 'lib'], lib: [] }, exceptions: [], phrases: [] }
const code = {
  'src/brain/a.ts': "import '../lib/a.ts'",
  'src/brain/a.test.ts': "import '../cli/a.ts'",
  'src/cli/a.ts': "import '../brain/a.ts'\nimport '../lib/a.ts'",
  'src/lib/a.ts': '',
}
const diagram = '```mermaid\nflowchart TD\n  brain --> lib\n  cli --> brain\n  lib\n```'
const page = (block: string) => `# Title\n\n<!-- rooms:begin -->\n${block}\n<!-- rooms:end -->\n\nEnd\n`

test('the text has all imports between rooms, the diagram leaves out implied ones', (t) => {
  const { rooms } = tidy(project(t, code), rules)
  assert.equal(textGraph(rooms), 'brain  → lib\ncli    → brain, lib\nlib    → –')
  assert.equal(mermaidGraph(rooms), diagram)
})

test('the diagram has all imports where rooms import each other', (t) => {
  const { rooms } = tidy(project(t, { ...code, 'src/lib/a.ts': "import '../cli/a.ts'" }), rules)
  assert.match(mermaidGraph(rooms), /cli --> brain & lib\n {2}lib --> cli/)
})

for (const [what, text, message] of [
  ['is missing', '# Title\n', 'ARCHITECTURE.md:1: must contain <!-- rooms:begin --> and <!-- rooms:end -->'],
  [
    'is out of date',
    page('old'),
    'ARCHITECTURE.md:3: the diagram of rooms is out of date: run `npm run -s tidy -- --write`',
  ],
] as const) {
  test(`a diagram that ${what} in ARCHITECTURE.md is reported`, (t) => {
    const { problems } = tidy(project(t, { ...code, 'ARCHITECTURE.md': text }), rules)
    assert.deepEqual(problems.map(describe), [message])
  })
}

test('write updates the diagram and nothing else', (t) => {
  const root = project(t, { ...code, 'ARCHITECTURE.md': page('old') })
  assert.deepEqual(tidy(root, rules, { write: true }).problems, [])
  assert.equal(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'), page(diagram))
  assert.deepEqual(tidy(root, rules).problems, [])
})
