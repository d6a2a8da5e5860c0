import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { localFleet } from './local.ts'

test('each worker has an upstream of its own, which the next worker reuses when it ends', async (t) => {
  const news = new EventEmitter()
  const fleet = localFleet(
    {
      command: () => ['sh', '-c', 'echo "$@"; exec sleep 6000', 'sh'],
      upstreams: ['http://a:1', 'http://b:2'],
      token: 'sesame',
      log: (line) => news.emit('line', line),
    },
    {
      launchFailed: (launch, message) => news.emit('failed', launch, message),
      gone: (launch) => news.emit('gone', launch),
    },
  )
  t.after(() => fleet.close())
  const said = async (launch: string) => {
    const line = once(news, 'line')
    fleet.launch(launch)
    fleet.joined(launch)
    return (await line)[0]
  }
  assert.equal(await said('1'), 'worker w1: --upstream http://a:1 --launch 1')
  assert.equal(await said('2'), 'worker w2: --upstream http://b:2 --launch 2')
  const failed = once(news, 'failed')
  fleet.launch('3')
  assert.deepEqual(await failed, ['3', 'each upstream has a worker already'])
  const gone = once(news, 'gone')
  fleet.terminate('1')
  assert.deepEqual(await gone, ['1'])
  assert.equal(await said('4'), 'worker w4: --upstream http://a:1 --launch 4')
})

/** A fleet of shell scripts, and its events. */
function scripted(t: TestContext, script: string) {
  const news = new EventEmitter()
  const fleet = localFleet(
    { command: () => ['sh', '-c', script, 'sh'], token: 'sesame', log: (line) => news.emit('line', line) },
    {
      launchFailed: (launch, message) => news.emit('failed', launch, message),
      gone: (launch, message) => news.emit('gone', launch, message),
    },
  )
  t.after(() => fleet.close())
  const begins = async (launch: string) => {
    const line = once(news, 'line')
    fleet.launch(launch)
    await line
    fleet.joined(launch)
  }
  const listed = async () => (await fleet.list()).map(({ launch }) => launch)
  return { fleet, news, begins, listed }
}

test('the list has running workers with their start times, and none that has ended', async (t) => {
  const { fleet, news, begins, listed } = scripted(t, 'echo up; exec sleep 6000')
  assert.deepEqual(await listed(), [])
  const before = Date.now()
  await begins('1')
  await begins('2')
  assert.deepEqual(await listed(), ['1', '2'])
  for (const { since } of await fleet.list()) assert.ok(since >= before && since <= Date.now())
  const gone = once(news, 'gone')
  fleet.terminate('1')
  assert.deepEqual(await gone, ['1', 'killed by SIGKILL'])
  assert.deepEqual(await listed(), ['2'])
})

test('a worker reads its token from standard input, and neither its arguments nor its environment show one', async (t) => {
  process.env.PLIMSOLL_OPERATOR_TOKEN = 'of the operator'
  t.after(() => {
    delete process.env.PLIMSOLL_OPERATOR_TOKEN
  })
  const script =
    'read -r token; echo "$token"; cat /proc/$$/environ /proc/$$/cmdline | tr "\\0" "\\n"; echo end'
  const { fleet, news } = scripted(t, script)
  const lines: string[] = []
  const ended = once(news, 'gone')
  news.on('line', (line: string) => lines.push(line))
  fleet.launch('1')
  fleet.joined('1')
  await ended
  const [first, ...rest] = lines
  assert.equal(first, 'worker w1: sesame')
  assert.equal(rest.at(-1), 'worker w1: end')
  assert.deepEqual(
    rest.filter((line) => /sesame|PLIMSOLL_.*TOKEN|of the operator/.test(line) && !line.includes(script)),
    [],
  )
})

test('a worker that cannot start is never listed', async (t) => {
  const fleet = localFleet(
    { command: () => ['/nowhere/at/all'], token: 'sesame', env: { PATH: '' }, log: () => {} },
    { launchFailed: () => {}, gone: () => {} },
  )
  t.after(() => fleet.close())
  fleet.launch('1')
  await fleet.close()
  assert.deepEqual(await fleet.list(), [])
})

test('a worker may end by itself within its grace period, and is killed after it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-fleet-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const go = join(folder, 'go')
  const { fleet, news, begins } = scripted(t, `echo up; until [ -e '${go}' ]; do sleep 0.01; done`)
  const gone = once(news, 'gone')
  await begins('1')
  fleet.terminate('1', 60_000)
  writeFileSync(go, '')
  assert.deepEqual(await gone, ['1', 'exited with code 0'])
  const stuck = scripted(t, 'echo up; exec sleep 6000')
  await stuck.begins('1')
  const killed = once(stuck.news, 'gone')
  stuck.fleet.terminate('1', 20)
  assert.deepEqual(await killed, ['1', 'killed by SIGKILL'])
})
