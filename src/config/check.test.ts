import assert from 'node:assert/strict'
import test from 'node:test'
import { checkConfig } from './check.ts'
import type { RouteRequest } from './config.ts'

const folder = import.meta.dirname
const workers = { command: 'python3 app.py --port {port}' }
const check = (config: unknown) => checkConfig(config, folder)

test('the command of a program may leave its port to the variable PORT', () => {
  assert.deepEqual(check({ workers: { command: 'node app.js' } }).own?.workers?.command, ['node', 'app.js'])
})

test('an existing server gets its defaults', () => {
  const { own, options } = check({ workers, port: 0 })
  const { routes, ...rest } = own!
  assert.deepEqual(options, { port: 0 })
  assert.deepEqual(rest, {
    workers: {
      command: ['python3', 'app.py', '--port', '{port}'],
      concurrency: 1,
      cwd: folder,
      env: {},
      startMs: 30_000,
      healthEveryMs: 5_000,
    },
    concurrency: 1,
    maxBodyBytes: 1024 ** 3,
  })
  const [{ name, pattern, methods, preemptible, repeat, needsJson }] = routes as [(typeof routes)[0]]
  assert.deepEqual(
    { name, path: pattern.text, methods, preemptible, repeat, needsJson },
    {
      name: 'server',
      path: '/**',
      methods: undefined,
      preemptible: true,
      repeat: undefined,
      needsJson: true,
    },
  )
})

test('upstreams are origins that share one health path', () => {
  assert.equal(check({ upstreams: ['http://a:1'], health: '/well' }).own?.health, '/well')
  const { own } = check({ upstreams: ['http://127.0.0.1:9000/', 'http://[::1]:80'], concurrency: 8 })
  assert.deepEqual([own?.upstreams, own?.concurrency], [['http://127.0.0.1:9000', 'http://[::1]'], 8])
})

test('a configuration without a server has options only', () => {
  assert.deepEqual(check({ min: 2, fair: true }), { options: { min: 2, fair: true } })
  assert.deepEqual(check({ data: 'd', workloads: 'a,b' }).options, {
    data: `${folder}/d`,
    workloads: `${folder}/a,${folder}/b`,
  })
})

test('reads declared features from a request', () => {
  const request: RouteRequest = {
    method: 'POST',
    path: { id: '7' },
    query: { width: '3' },
    headers: { 'x-size': '12' },
    json: { a: { b: [1, 2] }, text: 'x', toString: null },
    bytes: 99,
  }
  const sources = {
    ...{ a: 'path.id', b: 'query.width', c: 'header.X-Size', d: 'json.a.b', e: 'json.text', f: 'body.bytes' },
    ...{
      g: 'method',
      h: 'json.a',
      i: 'json.toString',
      j: 'json.a.b.length',
      k: 'query.toString',
      l: 'json.x.y',
    },
  }
  const [route] = check({ workers, routes: [{ name: 'r', path: '/:id', features: sources }] }).own!.routes
  const found = Object.entries(route!.features!).map(([name, source]) => [name, source(request)])
  assert.deepEqual(Object.fromEntries(found.filter(([, value]) => value !== undefined)), {
    ...{ a: '7', b: '3', c: '12', d: 2, e: 'x', f: 99, g: 'POST', j: 2 },
  })
})

const route = (fields: object) => ({ workers, routes: [{ name: 'r', path: '/:id', ...fields }] })

const rejected: [config: unknown, message: RegExp][] = [
  [null, /^the configuration = null: must be an object with workers, upstreams/],
  [[], /^the configuration = \[\]: must be an object/],
  [{ wrokers: {} }, /^the configuration: unknown option wrokers; did you mean workers\?$/],
  [{ routes: [] }, /^routes: requires workers or upstreams$/],
  [{ concurrency: 2 }, /^concurrency: requires workers or upstreams$/],
  [{ workers, upstreams: ['http://a:1'] }, /^workers, upstreams: only one of them may be given$/],
  [{ workers, workloads: 'x' }, /^workloads = x: cannot be combined with workers$/],
  [{ workers, meter: 'off' }, /^meter = off: cannot be combined with workers$/],
  [{ workers, concurrency: 2 }, /^concurrency = 2: must be given as workers\.concurrency/],
  [{ workers: 'python3' }, /^workers = 'python3': must be an object with command, health/],
  [{ workers: { ...workers, comand: 1 } }, /^workers: unknown option comand; did you mean command\?$/],
  [{ workers: {} }, /^workers\.command = undefined: must be a command such as/],
  [{ workers: { command: [] } }, /^workers\.command = \[\]: must be a command/],
  [{ workers: { command: ['a', 5, '{port}'] } }, /^workers\.command = \[ 'a', 5, '\{port\}' \]: must be/],
  [
    { workers: { command: 'app {port} {socket}' } },
    /must be a command that does not contain both \{port\} and \{socket\}$/,
  ],
  [{ workers: { command: 'a && b {port}' } }, /^workers\.command = a && b \{port\}: "&" is shell syntax/],
  [
    { workers: { ...workers, health: 'health' } },
    /^workers\.health = 'health': must be a path that starts with \//,
  ],
  [
    { workers: { ...workers, concurrency: 0 } },
    /^workers\.concurrency = 0: must be a whole number from 1 to 10000/,
  ],
  [{ workers: { ...workers, concurrency: 1.5 } }, /^workers\.concurrency = 1\.5: must be a whole number/],
  [{ workers: { ...workers, cwd: 'nowhere' } }, /^workers\.cwd = nowhere: no such folder/],
  [{ workers: { ...workers, cwd: 'a'.repeat(300) } }, /^workers\.cwd = a+: cannot be read \(ENAMETOOLONG\)/],
  [{ workers: { ...workers, cwd: 5 } }, /^workers\.cwd = 5: must be the path of a folder/],
  [{ workers: { ...workers, cwd: 'a\0b' } }, /^workers\.cwd = 'a\\x00b': must be the path of a folder/],
  [
    { workers: { ...workers, env: { A: 'b\0' } } },
    /^workers\.env\.A = 'b\\x00': must be a string without NUL/,
  ],
  [
    { workers: { ...workers, env: { 'A\0': 'b' } } },
    /^workers\.env = 'A\\x00': must be names without = and NUL/,
  ],
  [{ workers: { ...workers, env: { PORT: 80 } } }, /^workers\.env\.PORT = 80: must be a string/],
  [{ workers: { ...workers, env: { 'a=b': '' } } }, /^workers\.env = 'a=b': must be names without =/],
  [{ workers: { ...workers, env: [] } }, /^workers\.env = \[\]: must be an object/],
  [{ workers: { ...workers, startMs: '5s' } }, /^workers\.startMs = '5s': must be a number from 1 to/],
  [{ workers: { ...workers, healthEveryMs: 0 } }, /^workers\.healthEveryMs = 0: must be a number from 10 to/],
  [{ workers, maxBodyBytes: -1 }, /^maxBodyBytes = -1: must be a whole number from 0 to/],
  [{ upstreams: ['http://a:1'], health: 'well' }, /^health = 'well': must be a path that starts with/],
  [{ workers, health: '/well' }, /^health = '\/well': must be given as workers\.health/],
  [{ upstreams: [] }, /^upstreams = \[\]: must be a list of addresses such as/],
  [{ upstreams: ['127.0.0.1:9000'] }, /^upstreams\[0\] = '127\.0\.0\.1:9000': must be an address such as/],
  [{ upstreams: ['https://a:1'] }, /^upstreams\[0\] = 'https:\/\/a:1': must be/],
  [{ upstreams: ['http://a:1/path'] }, /without a path/],
  [{ upstreams: ['http://u:p@a:1'] }, /^upstreams\[0\]/],
  [{ upstreams: ['http://a:1', 'http://a:1/'] }, /^upstreams = 'http:\/\/a:1': must be listed once/],
  [{ upstreams: ['http://a:1'], max: 3 }, /^min, max: cannot be combined with upstreams/],
  [{ workers, routes: {} }, /^routes = \{\}: must be a list of routes/],
  [{ workers, routes: [5] }, /^routes\[0\] = 5: must be an object with name, path/],
  [route({ name: 'Big' }), /^routes\[0\]\.name = 'Big': must be lower-case letters/],
  [route({ path: 'x' }), /^routes\[0\]\.path = x: must be a path that begins with/],
  [route({ method: 'GET' }), /^routes\[0\]: unknown option method; did you mean methods\?$/],
  [route({ methods: 'GET' }), /^routes\[0\]\.methods = 'GET': must be a list of methods in capital letters/],
  [route({ methods: ['get'] }), /^routes\[0\]\.methods = \[ 'get' \]: must be/],
  [route({ repeat: 'yes' }), /^routes\[0\]\.repeat = 'yes': must be true or false/],
  [route({ preemptible: 1 }), /^routes\[0\]\.preemptible = 1: must be true or false/],
  [route({ deadlineMs: 0 }), /^routes\[0\]\.deadlineMs = 0: must be a number from 1 to/],
  [route({ features: ['a'] }), /^routes\[0\]\.features = \[ 'a' \]: must be an object of sources/],
  [route({ features: { a: 'width' } }), /^routes\[0\]\.features\.a = width: must be path\.NAME, query\.NAME/],
  [route({ features: { a: 'query.' } }), /must be path\.NAME/],
  [route({ features: { a: 'cookie.x' } }), /must be path\.NAME/],
  [route({ features: { a: 5 } }), /features\.a = 5: must be/],
  [
    route({ features: { a: 'path.scene' } }),
    /features\.a = path\.scene: must be one of the path's parts: id/,
  ],
  [route({ features: { ['x'.repeat(65)]: 'method' } }), /names of 1 to 64 characters/],
  [
    {
      workers,
      routes: [
        { name: 'a', path: '/' },
        { name: 'a', path: '/b' },
      ],
    },
    /^routes: the name a is used twice/,
  ],
]

test('an error names the option, its value and what is allowed', () => {
  for (const [config, message] of rejected) assert.throws(() => check(config), { code: 'CONFIG', message })
})
