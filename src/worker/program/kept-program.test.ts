import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { checkServer } from '../../config/check-server.ts'
import { serverCode } from '../../config/code.ts'
import { serverFiles } from '../../config/server-files.ts'
import { keepCode } from '../../workload/kept-code.ts'
import { startingPoint } from './kept-program.ts'

function folderOf(t: TestContext, files: Record<string, string>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plimsoll-kept-')))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'lib', 'node_modules'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

test('a program starts from its own folder, and from the copy once a file of its version is edited', async (t) => {
  const folder = folderOf(t, { 'app.py': '1', 'lib/a.py': '1', 'lib/b.txt': '1', 'data.db': '' })
  const absolute = join(folder, 'app.py')
  const server = checkServer({ command: ['python3', absolute, '{port}'], files: ['lib/*.py'] }, folder)
  const { root: kept } = await keepCode({
    files: serverFiles(server),
    folders: [folder],
    dataDir: join(folder, '.data'),
  })
  const point = () => startingPoint({ ...server, kept })
  assert.deepEqual(point(), { command: server.command, cwd: folder })
  writeFileSync(join(folder, 'lib/b.txt'), '2')
  assert.equal(point().cwd, folder, 'it is not part of the version')
  const code = serverCode({ ...server, kept })
  assert.deepEqual(serverCode(server), code)
  writeFileSync(join(folder, 'lib/a.py'), '2')
  assert.deepEqual(point(), { command: ['python3', join(kept, absolute), '{port}'], cwd: join(kept, folder) })
  writeFileSync(join(folder, 'lib/c.py'), '1')
  assert.deepEqual(serverCode({ ...server, kept }), code, 'the copy keeps its hash')
  assert.notDeepEqual(serverCode(server), code)
  writeFileSync(join(folder, 'lib/a.py'), '1')
  assert.equal(point().cwd, folder)
})

test('a command that names a Python module contains its file', (t) => {
  const folder = folderOf(t, { 'app.py': '', 'lib/main.py': '', 'lib/__init__.py': '', 'x.py': '' })
  const named = (...words: string[]) =>
    serverFiles({ command: ['gunicorn', '-b', '127.0.0.1:{port}', ...words], cwd: folder }).map((path) =>
      path.slice(folder.length + 1),
    )
  assert.deepEqual(named('app:app'), ['app.py'])
  assert.deepEqual(named('lib.main:create_app()'), ['lib/main.py'])
  assert.deepEqual(named('lib:app'), ['lib/__init__.py'])
  assert.deepEqual(named('missing:app', 'x'), [])
})

test('workers.files names files, folders and patterns; packages and hidden files are left out', (t) => {
  const files = { 'app.py': '', 'lib/a.py': '', 'lib/.env': '', 'lib/node_modules/x.js': '', 'other.txt': '' }
  const folder = folderOf(t, files)
  const named = (list: string[] | undefined, command = ['python3', 'app.py', '{port}']) =>
    serverFiles({ command, cwd: folder, ...(list && { files: list }) }).map((path) =>
      path.slice(folder.length + 1),
    )
  assert.deepEqual(named(undefined), ['app.py'])
  assert.deepEqual(named(['lib', '*.txt'], ['flask', '{port}']), ['lib/a.py', 'other.txt'])
  assert.throws(() => named(['*.rb']), { code: 'CONFIG', message: /workers\.files = \*\.rb: no such file/ })
  assert.throws(
    () => checkServer({ command: 'x {port}', files: 'app.py' }, folder),
    /workers\.files = 'app\.py': must be/,
  )
})
