import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { loadConfig } from '../config/load.ts'
import { loadWorkloads } from '../workload/load.ts'
import { helloWorkload, placeOf } from './init-files.ts'

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
  assert.match(stdout, /Wrote plimsoll\.config\.mts\.\nThen: {2}npm run -s plimsoll -- up\n/)
  const { own } = await loadConfig(join(folder, 'plimsoll.config.mts'))
  assert.deepEqual(own?.workers?.command, ['python3', 'my app.py', '--port', '{port}'])
  assert.deepEqual([own?.workers?.health, own?.concurrency], ['/well', 1])
  assert.deepEqual(
    own?.routes.map(({ name, pattern }) => [name, pattern.text]),
    [['server', '/**']],
  )
})

test('init names the flags that are wrong', (t) => {
  const folder = folderOf(t)
  for (const [flags, why] of [
    [
      ['--command', 'app {port} {socket}'],
      /^plimsoll: --command = 'app \{port\} \{socket\}': must be a command that does not/,
    ],
    [
      ['--command', 'app {port}', '--health', 'well'],
      /^plimsoll: --health = '?well'?: must be a path that starts/,
    ],
  ] as const)
    assert.match(init(folder, '--own-server', ...flags).stderr, why)
})

test('the configuration has types in a project with Plimsoll installed', async (t) => {
  const folder = folderOf(t)
  const module = { name: 'plimsoll', type: 'module', exports: './index.js' }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(module))
  writeFileSync(join(folder, 'index.js'), '')
  init(folder, 'sub', '--own-server', '--command', 'app {socket}', '--concurrency', '8')
  const text = readFileSync(join(folder, 'sub', 'plimsoll.config.ts'), 'utf8')
  assert.match(text, /^import \{ defineConfig \} from 'plimsoll'\n\nexport default defineConfig\(\{\n/)
  assert.match(text, /concurrency: 8,/)
})

for (const type of ['module', 'commonjs', 'none', 'no package.json']) {
  const end = type === 'module' ? 'ts' : 'mts'

  test(`init writes a first workload that runs in a package of type ${type}`, async (t) => {
    const folder = folderOf(t)
    if (type !== 'no package.json') {
      writeFileSync(join(folder, 'package.json'), JSON.stringify(type === 'none' ? {} : { type }))
    }
    assert.equal(init(folder).status, 0)
    const { options } = await loadConfig(join(folder, `plimsoll.config.${end}`))
    assert.equal(options.workloads, join(folder, 'workloads'))
    const [hello] = await loadWorkloads([join(folder, 'workloads', `hello.${end}`)])
    assert.deepEqual(hello?.run({ steps: 4 }, {} as never), { hello: 'world', steps: 4, sum: 6 })
  })
}

for (const importable of [true, false]) {
  test(`the first workload checks its parameters, ${importable ? 'with' : 'without'} the package`, async (t) => {
    // A folder inside the repository can import the package by its name.
    const inside = importable ? join(import.meta.dirname, '..', '..', '.plimsoll') : tmpdir()
    mkdirSync(inside, { recursive: true })
    const folder = mkdtempSync(join(inside, 'init-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const { end } = placeOf(folder)
    const file = join(folder, `hello${end}`)
    writeFileSync(file, helloWorkload({ end, importable }))
    const [hello] = await loadWorkloads([file])
    const read = async (given: unknown) => {
      const result = await hello!.params!['~standard'].validate(given)
      return result.issues ? result.issues[0]!.message : result.value
    }
    assert.deepEqual(await read({}), { steps: 1000 })
    assert.deepEqual(await read({ steps: '12' }), { steps: 12 })
    for (const steps of ['', '1e3', true, -1, 1.5, 2e9, '2000000000', null]) {
      assert.match(String(await read({ steps })), /must be a whole number from 0 to 1,?000,?000,?000/)
    }
  })
}

test('says how to start the cluster from the current folder', (t) => {
  const folder = folderOf(t)
  const { stdout } = init(folder, 'shop')
  assert.match(stdout, /Then: {2}npm run -s plimsoll -- up --config shop\/plimsoll\.config\.mts\n/)
})

test('rejects invalid answers and overwrites nothing', (t) => {
  const folder = folderOf(t)
  const refused = (args: string[], said: RegExp) => {
    const { status, stderr } = init(folder, ...args)
    assert.equal(status, 2)
    assert.match(stderr, said)
  }
  refused(['--own-server'], /--command: how is your server started\? For example --command 'python3 app\.py/)
  refused(
    ['--own-server', '--command', 'app {port} {socket}'],
    /must be a command that does not contain both/,
  )
  refused(['--own-server', '--command', 'app {port}', '--health', 'x'], /health = 'x': must be a path/)
  refused(['--command', 'app {port}'], /--command: requires --own-server/)
  refused(['a', 'b'], /init: unexpected b/)
  assert.equal(existsSync(join(folder, 'plimsoll.config.ts')), false)
  writeFileSync(join(folder, 'plimsoll.config.yaml'), 'min: 1\n')
  refused(['--own-server', '--command', 'app {port}'], /plimsoll\.config\.yaml: already exists/)
  assert.equal(readFileSync(join(folder, 'plimsoll.config.yaml'), 'utf8'), 'min: 1\n')
})
