import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { makePrivateFile, makePrivateFolder } from './private-files.ts'

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-private-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

const modeOf = (path: string) => statSync(path).mode & 0o777

test('a new folder and a new file belong to their owner alone, whatever the umask', (t) => {
  const before = process.umask(0)
  t.after(() => process.umask(before))
  const lines: string[] = []
  const folder = join(scratch(t), 'data')
  makePrivateFolder(folder, (line) => lines.push(line))
  makePrivateFile(join(folder, 'ledger.db'))
  assert.deepEqual([modeOf(folder), modeOf(join(folder, 'ledger.db')), lines], [0o700, 0o600, []])
})

test('access of others to a folder and its contents is taken away, and logged once', (t) => {
  const folder = join(scratch(t), 'data')
  const outside = join(scratch(t), 'outside')
  for (const path of [folder, join(folder, 'code'), outside]) mkdirSync(path)
  for (const name of ['ledger.db', 'code/run.sh']) writeFileSync(join(folder, name), '')
  symlinkSync(outside, join(folder, 'link'))
  chmodSync(folder, 0o755)
  chmodSync(outside, 0o755)
  chmodSync(join(folder, 'code'), 0o750)
  chmodSync(join(folder, 'code/run.sh'), 0o755)
  chmodSync(join(folder, 'ledger.db'), 0o644)
  const lines: string[] = []
  for (let start = 0; start < 2; start++) makePrivateFolder(folder, (line) => lines.push(line))
  const modes = ['', 'code', 'code/run.sh', 'ledger.db'].map((name) => modeOf(join(folder, name)))
  assert.deepEqual(modes, [0o700, 0o700, 0o700, 0o600])
  assert.equal(modeOf(outside), 0o755, 'links are not followed')
  assert.deepEqual(lines, [
    `folder ${folder}: others had access to it (mode 0755); now only its owner has, also to 3 of its files and folders`,
  ])
})

test('an existing file that others can read becomes private, and keeps its contents', (t) => {
  const file = join(scratch(t), 'log')
  writeFileSync(file, 'kept', { mode: 0o644 })
  makePrivateFile(file)
  assert.deepEqual([modeOf(file), statSync(file).size], [0o600, 4])
})
