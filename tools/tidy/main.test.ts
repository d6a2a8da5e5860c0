import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkTable } from './check-rooms.ts'
import { rooms } from './rooms.ts'
import { project } from './testing/project.ts'

const run = (cwd: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], { cwd, encoding: 'utf8' })

const folder = (room: string) => (room === 'index' ? 'src' : `src/${room}`)
const orderly = {
  ...Object.fromEntries(Object.keys(rooms).map((room) => [`${folder(room)}/a.ts`, 'const a = 1\n'])),
  'package.json': JSON.stringify({ name: 'p', exports: { '.': './src/a.ts' } }),
  'src/a.ts': "import './config/a.ts'\n\nnew URL('./cli/a.ts', import.meta.url)\n",
  'src/lib/long.test.ts': 'function f() {\n\n}\n',
  'ARCHITECTURE.md': '<!-- rooms:begin -->\n<!-- rooms:end -->\n',
}

test('the table of rooms has no cycle', () => assert.deepEqual(checkTable(rooms), []))

test('an orderly project is summed up', (t) => {
  const { status, stdout, stderr } = run(project(t, orderly), '--write')
  assert.equal(stderr, '')
  assert.equal(status, 0)
  assert.match(stdout, /^admin +→ –$/m)
  assert.match(stdout, /^flowchart TD$/m)
  const count = Object.keys(rooms).length
  const last = `tidy: ${count} rooms, ${count + 1} files, 0 cycles, longest file 3 lines, longest function 3 lines, 1 loose files`
  assert.equal(stdout.trimEnd().split('\n').at(-1), last)
})

test('problems are printed one to a line, and the exit code is 1', (t) => {
  const { status, stdout, stderr } = run(
    project(t, { ...orderly, 'src/lib/a.ts': "import '../cli/a.ts'" }),
    '--write',
  )
  assert.equal(status, 1)
  assert.equal(stdout, '')
  assert.match(
    stderr,
    /^src\/lib\/a\.ts:1: lib may not import cli \(src\/cli\/a\.ts\); allowed: nothing\n\ntidy: .*, 1 problems\n$/,
  )
})

test('--json prints the figures', (t) => {
  const figures = JSON.parse(run(project(t, orderly), '--write', '--json').stdout)
  assert.deepEqual(
    { ...figures, unreached: figures.unreached.length },
    {
      rooms: Object.keys(rooms).length,
      files: Object.keys(rooms).length + 1,
      roomCycles: 0,
      fileCycles: 0,
      longestFile: { file: 'src/a.ts', lines: 3 },
      longestFunction: { file: 'src/lib/long.test.ts', name: 'f', line: 1, lines: 3 },
      looseFiles: 1,
      linesByRoom: { ...Object.fromEntries(Object.keys(rooms).map((room) => [room, 1])), index: 3 },
      unreached: Object.keys(rooms).length - 3,
      problems: 0,
    },
  )
})

test('a file that cannot be parsed is named', (t) => {
  assert.match(run(project(t, { 'test/a.ts': 'const' })).stderr, /test\/a\.ts cannot be parsed/)
})
