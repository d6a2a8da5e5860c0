import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { routeCode, serverCode } from './code.ts'
import { findConfig, loadConfig } from './load.ts'
import { serverSettings } from './server-settings.ts'

function scratch(t: TestContext): (name: string, text: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-config-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return (name, text) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
}

const json = '{ "workers": { "command": ["app", "{port}"], "concurrency": 3 }, "port": 81 }'

test('modules, JSON and YAML are equivalent', async (t) => {
  const write = scratch(t)
  const index = JSON.stringify(join(import.meta.dirname, '..', 'index.ts'))
  const files = [
    write(
      'a.ts',
      `import { defineConfig, type PlimsollConfig } from ${index}
      const config: PlimsollConfig = ${json}
      export default defineConfig(config)`,
    ),
    write('a.mjs', `export default ${json}`),
    write('a.cjs', `const config = ${json}\nmodule.exports = config`),
    write('a.cts', `const config: object = ${json}\nmodule.exports = config`),
    write('compiled.cjs', `exports.__esModule = true\nexports.default = ${json}`),
    write('a.json', json),
    write('a.yaml', 'port: 81\nworkers:\n  command: [app, "{port}"]\n  concurrency: 3\n'),
    write('a.yml', "port: 81\nworkers: { command: 'app {port}', concurrency: 3 }\n"),
  ]
  for (const file of files) {
    const { own, options } = await loadConfig(file)
    assert.deepEqual(
      [own?.workers?.command, own?.concurrency, options],
      [['app', '{port}'], 3, { port: 81 }],
      file,
    )
  }
})

test('an unreadable configuration is rejected with its file and the reason', async (t) => {
  const write = scratch(t)
  const refused: [file: string, message: RegExp][] = [
    ['/nowhere/plimsoll.config.ts', /^\/nowhere\/plimsoll\.config\.ts: no such file$/],
    [
      write('none.mjs', 'export const config = {}'),
      /none\.mjs: has no default export; write: export default defineConfig/,
    ],
    [write('broken.mjs', 'throw new Error("sorry")'), /broken\.mjs: sorry/],
    [write('broken.json', '{'), /broken\.json: .*JSON/],
    [write('broken.yaml', 'a: [1'), /broken\.yaml: /],
    [write('empty.yaml', ''), /empty\.yaml: the configuration = null: must be an object/],
    [
      write('a.toml', ''),
      /a\.toml: must end with one of \.ts, \.mts, \.cts, \.js, \.mjs, \.cjs, \.json, \.yaml, \.yml/,
    ],
    [
      write('typo.json', '{"prot": 1}'),
      /typo\.json: the configuration: unknown option prot; did you mean port\?/,
    ],
  ]
  for (const [file, message] of refused) await assert.rejects(loadConfig(file), { code: 'CONFIG', message })
})

test('a folder has at most one configuration', (t) => {
  const write = scratch(t)
  const file = write('plimsoll.config.json', json)
  const folder = join(file, '..')
  assert.equal(findConfig(folder), file)
  write('plimsoll.config.yml', '')
  assert.throws(
    () => findConfig(folder),
    /^ConfigError: plimsoll\.config\.json and plimsoll\.config\.yml: only one may exist/,
  )
  mkdirSync(join(folder, 'empty'))
  assert.equal(findConfig(join(folder, 'empty')), undefined)
})

test('the hash depends on the program and the features, not on the folder', async (t) => {
  const write = scratch(t)
  const other = scratch(t)
  const codeOf = async (file: string): Promise<Record<string, string>> => {
    const { own } = await loadConfig(file)
    const { server } = serverCode(serverSettings(own!))
    return { server, ...routeCode(own!, server) }
  }
  const config = (more: object = {}) =>
    JSON.stringify({
      workers: { command: 'python3 app.py {port}' },
      routes: [{ name: 'a', path: '/a', ...more }],
    })
  write('app.py', 'print(1)')
  const first = await codeOf(write('c.json', config()))
  other('app.py', 'print(1)')
  assert.deepEqual(await codeOf(other('d.json', config())), first)
  const featured = await codeOf(write('c.json', config({ features: { x: 'method' } })))
  assert.equal(featured.server, first.server)
  assert.notEqual(featured.a, first.a)
  write('app.py', 'print(2)')
  assert.notEqual((await codeOf(write('c.json', config()))).server, first.server)
})

test('each worker represents one upstream', async (t) => {
  const write = scratch(t)
  const two = (await loadConfig(write('u.json', '{"upstreams":["http://a:1","http://b:2"],"concurrency":4}')))
    .own!
  const settings = serverSettings(two, 'http://b:2')
  assert.deepEqual(settings, {
    upstream: 'http://b:2',
    concurrency: 4,
    startMs: 30_000,
    healthEveryMs: 5_000,
  })
  assert.deepEqual(serverCode(settings), serverCode(serverSettings(two, 'http://a:1')))
  assert.throws(() => serverSettings(two), /--upstream = : must be one of http:\/\/a:1, http:\/\/b:2/)
  assert.throws(() => serverSettings(two, 'http://c:3'), /--upstream = http:\/\/c:3: must be one of/)
  const own = (await loadConfig(write('w.json', json))).own!
  assert.throws(() => serverSettings(own, 'http://c:3'), /has workers, not upstreams/)
})
