import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPhrases } from './check-phrases.ts'
import { phrases } from './phrases.ts'
import { problemsOf } from './testing/project.ts'

const banned = { phrases: [{ banned: /in vain/, write: '"without effect"' }] }

test('phrases are found in comments, strings and templates, and not in code', (t) => {
  const code = [
    '// Waits In Vain.',
    'const in_vain = "waits in vain"',
    `const a = \`waits \${'x'} in vain\``,
    `const b = \`waits in \${1} vain\``,
    'const c = /in vain/',
    "if ('in' in vain) throw 'in' + 'vain'",
    '/** Certain vain captain vainly: in vainglory. */',
  ].join('\n')
  assert.deepEqual(problemsOf(t, { 'test/a.ts': code }, banned), [
    'test/a.ts:1: "in vain": "without effect"',
    'test/a.ts:2: "in vain": "without effect"',
    'test/a.ts:3: "in vain": "without effect"',
  ])
})

for (const [where, code, line] of [
  ['block comment', '\n/**\n * Waits in\n * vain.\n */', 3],
  ['block of line comments', '\n{\n  // Waits in\n  // vain.\n}', 3],
  ['template', '\nconst a = `waits in\n  vain`', 2],
] as const) {
  test(`phrases are found over a line break: ${where}`, (t) => {
    assert.deepEqual(problemsOf(t, { 'src/lib/a.ts': code }, { ...banned, rooms: { lib: [] } }), [
      `src/lib/a.ts:${line}: "in vain": "without effect"`,
    ])
  })
}

test('phrases are found in pages, and not in folders that are not ours', (t) => {
  const page = '# Page\n\nWaits in\nvain.'
  const contents = {
    'README.md': page,
    'docs/deep/a.md': page,
    'node_modules/x/README.md': page,
    '.x/a.md': page,
  }
  assert.deepEqual(problemsOf(t, contents, banned), [
    'README.md:3: "in vain": "without effect"',
    'docs/deep/a.md:3: "in vain": "without effect"',
  ])
})

test('an exception allows a phrase in one file', (t) => {
  const contents = { 'README.md': 'Never in vain.', 'CHANGELOG.md': 'Never in vain.' }
  const exceptions = [{ rule: 'phrase', file: 'README.md', name: 'in vain', reason: 'a quotation' }] as const
  assert.deepEqual(problemsOf(t, contents, { ...banned, exceptions }), [
    'CHANGELOG.md:1: "in vain": "without effect"',
  ])
})

const found = (prose: string) =>
  checkPhrases([{ path: 'a.md', prose }], phrases).map(({ allowedBy }) => allowedBy?.name)

for (const [sentence, phrase] of [
  ["One that is whoever made it's to cut.", 'whoever'],
  ['A launch came to nothing.', 'came to nothing'],
  ['It is given so long to come back.', 'so long'],
  ['So many of the last boots are remembered.', 'so many'],
  ['An option that there is not is refused.', 'that there is not'],
  ['For a server that there is already.', 'that there is already'],
  ['Programs are well.', 'are well'],
  ['A body that is no picture.', 'is no picture'],
  ['Nothing waits for ever.', 'for ever'],
  ['Others make way.', 'make way'],
  ['The list cannot be had.', 'be had'],
  ['A worker not heard of is lost.', 'heard of'],
  ['Each minute it is thought over.', 'thought over'],
  ['**Goes first** a job that is owed a turn.', 'goes first** a'],
  ['Who drains gets nothing.', 'who drains'],
  ["The job is in nobody's hands.", "nobody's hands"],
  ['Jobs in workers’ hands.', 'workers’ hands'],
  ['What cannot be is refused.', 'what cannot be'],
] as const) {
  test(`is banned: ${sentence}`, () => assert.deepEqual(found(sentence), [phrase]))
}

for (const sentence of [
  'The worker is stopped as well, which is well known and well-defined.',
  'Load is well below the limit.',
  'Why did this take so long? So long as a job runs, it has a core.',
  'There is no job; the limit is no longer 3.',
  'An operator who restarts a worker drains it first.',
  'What cannot be parsed is rejected.',
  'A job waits forever.',
]) {
  test(`is allowed: ${sentence}`, () => assert.deepEqual(found(sentence), []))
}
