/** A running cluster changes to new code: edited, broken, added and removed workloads, and edited servers. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { checkConfig } from '../../src/config/check.ts'
import type { ClusterOptions } from '../../src/live/cluster.ts'
import { readAgain } from '../../src/live/version.ts'
import { cli, type Live, startLive, stopLive, until } from '../support/live.ts'
import { steadyLoad } from '../support/steady-load.ts'

const all = { fronts: true, workers: true }

async function serve(t: TestContext, options: (folder: string) => Partial<ClusterOptions>, ready = 2) {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-edited-'))
  const live = await startLive({ min: 2, max: 2, ...options(folder) })
  t.after(async () => {
    await stopLive(live)
    rmSync(folder, { recursive: true })
  })
  await until(() => live.state().ready === ready, 'all workers are ready')
  return { live, folder }
}

const workload = (name: string, value: unknown) =>
  `export default { name: '${name}', description: '', run: () => '${value}' }\n`
/** A front that leaves waits for idle connections, so none is kept. */
const ask = async ({ url }: Live, path: string) =>
  await (await fetch(`${url}${path}`, { headers: { connection: 'close' } })).text()
const restart = (live: Live) => Array.fromAsync(live.restart(all))

/** Kills a worker, and waits for its replacement. */
async function crash(live: Live): Promise<void> {
  const { id, pid } = live.state().workers.find(({ state }) => state === 'ready')!
  process.kill(pid!, 'SIGKILL')
  const isReplaced = () => live.state().ready === 2 && live.state().workers.every((each) => each.id !== id)
  await until(isReplaced, 'another worker has joined')
  assert.ok(live.lines.some((line) => line.startsWith(`fleet: worker ${id} was lost`)))
}

test('a crashed worker restarts with the code it had, until a restart brings the edited code', async (t) => {
  const { live, folder } = await serve(t, (folder) => {
    const file = join(folder, 'edited.cjs')
    writeFileSync(
      file,
      `module.exports = { name: 'edited', description: '', run: () => require('./text.cjs') }`,
    )
    writeFileSync(join(folder, 'text.cjs'), `module.exports = 'v1'`)
    return { files: [file] }
  })
  const load = steadyLoad(`${live.url}/edited`, 1, /^v[12]$/)
  writeFileSync(join(folder, 'text.cjs'), `module.exports = 'v2'`)
  await crash(live)
  assert.equal(await ask(live, '/edited'), 'v1')
  const before = live.state().workers.map(({ id }) => id)
  const steps = await restart(live)
  assert.deepEqual(steps[0], { version: 'begins' })
  assert.equal(await ask(live, '/edited'), 'v2')
  assert.ok(live.state().workers.every(({ id }) => !before.includes(id)))
  await crash(live)
  assert.equal(await ask(live, '/edited'), 'v2')
  await load.stop()
  assert.deepEqual(load.errors, [])
  assert.deepEqual(
    await Array.fromAsync(live.restart({ ...all, ifChanged: true })),
    [],
    'nothing has changed',
  )
})

test('a version that does not load is refused with its stack, and nothing else happens', async (t) => {
  const { live, folder } = await serve(t, (folder) => {
    writeFileSync(join(folder, 'edited.ts'), workload('edited', 1))
    return { files: [join(folder, 'edited.ts')] }
  })
  const workers = () => live.state().workers.map(({ id, state }) => `${id} ${state}`)
  const before = workers()
  const broken = {
    'const x: number =\n':
      /refused, and nothing has changed: .*edited\.ts: .*[\s\S]*edited\.ts:1[\s\S]*SyntaxError/,
    'fail()\nfunction fail(): void { throw new Error("no luck") }\n':
      /refused, .*no luck[\s\S]*at fail \(file:\/\/\S*-edited-\w+\/edited\.ts:2:/,
    'console.error("giving up")\nprocess.exit(3)\n': /refused, .*exited with code 3: giving up/,
    'export default {}\n': /refused, .*edited\.ts: workload undefined: name = undefined/,
  }
  for (const [code, message] of Object.entries(broken)) {
    writeFileSync(join(folder, 'edited.ts'), code)
    await assert.rejects(restart(live), { code: 'CONFIG', message })
    assert.deepEqual(workers(), before)
    assert.ok(live.lines.some((line) => line.startsWith('restart: the new version is refused')))
  }
  rmSync(join(folder, 'edited.ts'))
  await assert.rejects(restart(live), { message: /edited\.ts: no such file/ })
  assert.equal(await ask(live, '/edited'), '1')
  writeFileSync(join(folder, 'edited.ts'), workload('edited', 2))
  await restart(live)
  assert.equal(await ask(live, '/edited'), '2')
})

test('a new version adds, changes and removes workloads, in all fronts', async (t) => {
  let files: string[] = []
  const { live, folder } = await serve(t, (folder) => {
    const file = (name: string, value: number) => {
      writeFileSync(join(folder, `${name}.mjs`), workload(name, value))
      return join(folder, `${name}.mjs`)
    }
    files = [file('stays', 1), file('goes', 1)]
    return {
      files,
      sources: async () => ({ files }),
      fronts: { count: 1, command: [process.execPath, cli, 'front'] },
    }
  })
  assert.deepEqual([await ask(live, '/stays'), await ask(live, '/goes')], ['1', '1'])
  writeFileSync(join(folder, 'stays.mjs'), workload('stays', 2))
  writeFileSync(join(folder, 'comes.mjs'), workload('comes', 2))
  files = [join(folder, 'stays.mjs'), join(folder, 'comes.mjs')]
  const steps = await restart(live)
  assert.ok(steps.some((step) => 'front' in step))
  // The kernel chooses the front of each connection.
  for (let i = 0; i < 10; i++) {
    const headers = { connection: 'close' }
    const answers = ['/stays', '/comes', '/goes'].map((path) => fetch(`${live.url}${path}`, { headers }))
    assert.deepEqual(
      (await Promise.all(answers)).map(({ status }) => status),
      [200, 200, 404],
    )
  }
  assert.deepEqual([await ask(live, '/stays'), await ask(live, '/comes')], ['2', '2'])
})

test('programs of an existing server change like workloads, with their configuration', async (t) => {
  const server = (text: string) => `import { createServer } from 'node:http'
    createServer((_, response) => response.end('${text}')).listen(process.argv[2], '127.0.0.1')`
  const config = (route: string) =>
    JSON.stringify({
      workers: { command: [process.execPath, 'server.mjs', '{port}'] },
      routes: [{ name: route, path: '/**' }],
    })
  const { live, folder } = await serve(t, (folder) => {
    const [file, dataDir] = [join(folder, 'plimsoll.config.json'), join(folder, 'data')]
    writeFileSync(join(folder, 'server.mjs'), server('v1'))
    writeFileSync(file, config('first'))
    const sources = async () => ({ files: [], own: (await readAgain(file, dataDir)).own!, config: file })
    const { own } = checkConfig(JSON.parse(config('first')), folder)
    return { files: [], own: own!, config: file, dataDir, sources }
  })
  const write = (text: string) => writeFileSync(join(folder, 'server.mjs'), text)
  const load = steadyLoad(`${live.url}/`, 1, /^v[12]$/)
  write('process.exit(3)')
  await crash(live)
  assert.equal(await ask(live, '/'), 'v1')
  await assert.rejects(restart(live), {
    message: /refused, .*the program does not start: exited at once with code 3/,
  })
  write(server('v2'))
  writeFileSync(join(folder, 'plimsoll.config.json'), config('second'))
  await crash(live)
  assert.equal(await ask(live, '/'), 'v1')
  await restart(live)
  assert.equal(await ask(live, '/'), 'v2')
  assert.deepEqual(live.state().workers.length, 2)
  const { workloads } = (await (await fetch(`${live.url}/-/workloads`)).json()) as {
    workloads: { name: string }[]
  }
  assert.deepEqual(
    workloads.map(({ name }) => name),
    ['second'],
  )
  await load.stop()
  assert.deepEqual(load.errors, [])
})

test('a restart stops if programs no longer start, though no file of the version has changed', async (t) => {
  const { live, folder } = await serve(t, (folder) => {
    const script = `require('./unlisted.cjs')
      require('http').createServer((_, response) => response.end('v1')).listen(process.argv[1], '127.0.0.1')`
    const [file, dataDir] = [join(folder, 'plimsoll.config.json'), join(folder, 'data')]
    const config = { workers: { command: [process.execPath, '-e', script, '{port}'] } }
    writeFileSync(join(folder, 'unlisted.cjs'), '')
    writeFileSync(file, JSON.stringify(config))
    const sources = async () => ({ files: [], own: (await readAgain(file, dataDir)).own!, config: file })
    return { files: [], own: checkConfig(config, folder).own!, config: file, dataDir, sources }
  })
  const workers = () => live.state().workers.map(({ id, state }) => `${id} ${state}`)
  const before = workers()
  writeFileSync(join(folder, 'unlisted.cjs'), 'process.exit(3)')
  const message = /worker \w+ stays, .*: the program does not start: exited at once with code 3/
  await assert.rejects(restart(live), { message })
  assert.deepEqual(workers(), before)
  assert.equal(await ask(live, '/'), 'v1')
})

test('estimates of new code begin with the model of the old code', async (t) => {
  const code = (text: string) =>
    `export default { name: 'count', description: '', features: ({ n }) => ({ n: Number(n) }), run({ n }) {
      let sum = 0
      for (let i = 0; i < n; i++) sum += i
      return '${text}' + sum
    } }\n`
  const { live, folder } = await serve(t, (folder) => {
    writeFileSync(join(folder, 'count.mjs'), code('a'))
    return { files: [join(folder, 'count.mjs')] }
  })
  const sourceOf = async () =>
    (JSON.parse(await ask(live, '/-/estimate/count?n=3333')) as { source: string }).source
  for (let n = 1; (await sourceOf()) !== 'model'; n++) await ask(live, `/count?n=${n * 1000}`)
  writeFileSync(join(folder, 'count.mjs'), code('b'))
  await restart(live)
  assert.equal(await sourceOf(), 'model')
  assert.match(await ask(live, '/count?n=3'), /^b/)
})
