import assert from 'node:assert/strict'
import test from 'node:test'
import { Backoff } from './backoff.ts'
import { fillIn, splitWords } from './command.ts'
import { checkServer, measureOf, serverCode } from './settings.ts'

test('a command is cut into words as a shell does, and nothing is expanded', () => {
  const words = (text: string) => splitWords(text).join('|')
  assert.equal(words('python3 app.py  --port {port}'), 'python3|app.py|--port|{port}')
  assert.equal(words(`a 'b c' "d \\"e\\" \\n" f\\ g ''`), 'a|b c|d "e" \\n|f g|')
  assert.equal(words('echo $HOME *.ts a"b"c'), 'echo|$HOME|*.ts|abc')
  assert.deepEqual(splitWords('  '), [])
  assert.throws(() => splitWords("app 'x"), /the quote ' is not closed/)
})

test('where to listen is put in wherever the command names it', () => {
  assert.deepEqual(fillIn(['app', '--at=:{port}', '{port}'], { port: 8000 }), ['app', '--at=:8000', '8000'])
  assert.deepEqual(fillIn(['app', 'unix:{socket}'], { socket: '/tmp/s' }), ['app', 'unix:/tmp/s'])
})

test('a server is completed with defaults', () => {
  assert.deepEqual(checkServer({ command: 'app {port}' }, 'workers'), {
    command: ['app', '{port}'],
    concurrency: 1,
    startMs: 30_000,
    healthEveryMs: 5_000,
  })
  const upstream = checkServer({ upstream: 'http://127.0.0.1:9000/', concurrency: 2 }, 'upstreams')
  assert.equal('upstream' in upstream && upstream.upstream, 'http://127.0.0.1:9000')
})

for (const [given, message] of [
  [[], /^workers = \[\]: must be an object$/],
  [{}, /^workers: command = undefined: must be a program and its arguments/],
  [{ command: '' }, /command = ""/],
  [{ command: ['app', 1] }, /command = \["app",1\]/],
  [{ command: 'app {port} {socket}' }, /told \{port\} or \{socket\}, not both$/],
  [{ command: 'a', comand: 1 }, /unknown option comand; options are command, upstream, health/],
  [{ command: 'a', health: 'health' }, /health = "health": must be a path such as \/health$/],
  [{ command: 'a', concurrency: 0 }, /concurrency = 0: must be a whole number from 1 to 10000$/],
  [{ command: 'a', startMs: -1 }, /startMs = -1: must be a number of milliseconds/],
  [{ command: 'a', cwd: '/no/such/folder' }, /cwd = "\/no\/such\/folder": must be a folder that exists$/],
  [{ command: 'a', env: { A: 1 } }, /env = \{"A":1\}: must be an object of strings$/],
  [{ command: 'a', upstream: 'http://x' }, /both command and upstream/],
  [{ upstream: 'http://x/path' }, /upstream = "http:\/\/x\/path": must be an address without a path/],
  [{ upstream: 'ftp://x' }, /must be an address without a path, such as http/],
] as const) {
  test(`a server that is ${JSON.stringify(given)} is refused in words`, () => {
    assert.throws(() => checkServer(given, 'workers'), { code: 'CONFIG', message })
  })
}

test('work is comparable between workers of the same command, measure and concurrency only', () => {
  const code = (given: object) => serverCode(checkServer(given, 'workers')).server
  assert.equal(code({ command: 'a b' }), code({ command: ['a', 'b'], startMs: 5 }))
  assert.notEqual(code({ command: 'a b' }), code({ command: 'a c' }))
  assert.notEqual(code({ command: 'a b' }), code({ command: 'a b', concurrency: 2 }))
  assert.equal(code({ upstream: 'http://a:1' }), code({ upstream: 'http://b:2' }))
  assert.equal(measureOf(checkServer({ command: 'a' }, 'workers')), 'cpu')
  assert.equal(measureOf(checkServer({ command: 'a', concurrency: 2 }, 'workers')), 'time')
  assert.equal(measureOf(checkServer({ upstream: 'http://a:1' }, 'upstreams')), 'time')
})

test('tries are put off from half a second to half a minute, and anew after a minute of health', () => {
  const backoff = new Backoff()
  const waits = Array.from({ length: 8 }, () => backoff.next(0))
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  assert.equal(backoff.next(59_999), 30_000)
  assert.equal(backoff.next(60_000), 500)
})
