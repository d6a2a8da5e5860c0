import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { loadConfig } from '../config/load.ts'
import { loadWorkloads } from '../workload/workload.ts'

const main = join(import.meta.dirname, 'plimsoll.js')

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-init-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function init(cwd: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'init', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return { status, stdout, stderr }
}

test('init --own-server writes a loadable configuration from its flags', async (t) => {
  const folder = folderOf(t)
  const command = "python3 'my app.py' --port {port}"
  const { status, stdout } = init(folder, '--own-server', '--command', command, '--health', '/well')
  assert.equal(status, 0)
  assert.match(stdout, /Wrote plimsoll\.config\.ts\.\nThen: {2}plimsoll up/)
  const { own } = await loadConfig(join(folder, 'plimsoll.config.ts'))
  assert.deepEqual(own?.workers?.command, ['python3', 'my app.py', '--port', '{port}'])
  assert.deepEqual([own?.workers?.health, own?.concurrency], ['/well', 1])
  assert.deepEqual(
    own?.routes.map(({ name, pattern }) => [name, pattern.text]),
    [['server', '/**']],
  )
})

test('the configuration has types in a project with Plimsoll installed', async (t) => {
  const folder = folderOf(t)
  const module = { name: 'plimsoll', exports: './index.js' }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(module))
  writeFileSync(join(folder, 'index.js'), '')
  init(folder, 'sub', '--own-server', '--command', 'app {socket}', '--concurrency', '8')
  const text = readFileSync(join(folder, 'sub', 'plimsoll.config.ts'), 'utf8')
  assert.match(text, /^import \{ defineConfig \} from 'plimsoll'\n\nexport default defineConfig\(\{\n/)
  assert.match(text, /concurrency: 8,/)
})

test('init writes a first workload', async (t) => {
  const folder = folderOf(t)
  assert.equal(init(folder).status, 0)
  const { options } = await loadConfig(join(folder, 'plimsoll.config.ts'))
  assert.equal(options.workloads, join(folder, 'workloads'))
  const [hello] = await loadWorkloads([join(folder, 'workloads', 'hello.ts')])
  assert.deepEqual(hello?.run({ steps: '4' }, {} as never), { hello: 'world', steps: 4, sum: 6 })
})

test('rejects invalid answers and overwrites nothing', (t) => {
  const folder = folderOf(t)
  const refused = (args: string[], said: RegExp) => {
    const { status, stderr } = init(folder, ...args)
    assert.equal(status, 2)
    assert.match(stderr, said)
  }
  refused(['--own-server'], /--command: how is your server started\? For example --command 'python3 app\.py/)
  refused(['--own-server', '--command', 'app'], /must be a command that contains either \{port\}/)
  refused(['--own-server', '--command', 'app {port}', '--health', 'x'], /health = 'x': must be a path/)
  refused(['--command', 'app {port}'], /--command: requires --own-server/)
  refused(['a', 'b'], /init: unexpected b/)
  assert.equal(existsSync(join(folder, 'plimsoll.config.ts')), false)
  writeFileSync(join(folder, 'plimsoll.config.yaml'), 'min: 1\n')
  refused(['--own-server', '--command', 'app {port}'], /plimsoll\.config\.yaml: already exists/)
  assert.equal(readFileSync(join(folder, 'plimsoll.config.yaml'), 'utf8'), 'min: 1\n')
})
