import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { ConfigError } from '../../lib/errors.ts'
import { listen, urlOf } from '../../live/listen.ts'
import { openTokens, tokenFile } from '../../live/tokens.ts'
import { JoinAddresses } from '../../wire/join-addresses.ts'
import { newTokens } from '../../wire/token.ts'
import { front } from '../front.ts'
import { restart } from '../restart.ts'
import { worker } from '../worker.ts'
import { hostTowards, joinFrom } from './joining.ts'

const here = 'http://127.0.0.1:8081'

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-joining-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('the token comes from a file, else from the environment, else from the data folder', (t) => {
  const data = scratch(t)
  const kept = openTokens(data)
  const given = newTokens()
  const file = join(data, 'other')
  writeFileSync(file, given.front)
  const values = { join: here, id: undefined, tokenFile: undefined, data }
  assert.equal(joinFrom(values, 'worker').token, kept.worker)
  assert.equal(joinFrom({ ...values, tokenFile: file }, 'worker').token, given.front)
  process.env.PLIMSOLL_WORKER_TOKEN = given.worker
  process.env.PLIMSOLL_OPERATOR_TOKEN = given.operator
  assert.equal(joinFrom(values, 'worker').token, given.worker)
  assert.deepEqual(
    Object.keys(process.env).filter((name) => /^PLIMSOLL_.*TOKEN$/.test(name)),
    [],
    'processes that it starts inherit none',
  )
  assert.equal(joinFrom(values, 'front').token, kept.front)
})

test('a token among the arguments is refused with what to use instead, and is not repeated', async () => {
  for (const command of [worker, front, restart]) {
    for (const args of [['--token', 'sesame'], ['--token=sesame']]) {
      await assert.rejects(
        async () => command.run(args),
        (error) => {
          assert.ok(error instanceof ConfigError)
          assert.doesNotMatch(error.message, /sesame/)
          return /^--token: other users can see arguments .*--token-file FILE/.test(error.message)
        },
      )
    }
  }
})

test('what is missing or wrong is named, with what is allowed', (t) => {
  const data = scratch(t)
  const values = { join: here, id: undefined, tokenFile: undefined, data }
  const wrong: [change: object, message: RegExp][] = [
    [
      {},
      /^the worker token is required, but .*tokens\/worker: no such file\nCopy it .* --token-file FILE, or set PLIMSOLL_WORKER_TOKEN/,
    ],
    [{ tokenFile: '/nowhere/x' }, /^--token-file = \/nowhere\/x: no such file$/],
    [{ join: '' }, /^--join: required: tls:\/\/HOST:PORT, the --join-address/],
    [{ join: 'tls://brain.example' }, /^--join = tls:\/\/brain\.example: must be tls:\/\/HOST:PORT, or/],
    [{ join: 'https://brain.example' }, /must be tls:\/\/HOST:PORT, or/],
    [
      { join: 'http://brain.example:8081' },
      /must be tls:\/\/HOST:PORT for a cluster on another machine, which needs up --join-address/,
    ],
  ]
  for (const [change, message] of wrong)
    assert.throws(() => joinFrom({ ...values, ...change }, 'worker'), { code: 'CONFIG', message })
  assert.equal(tokenFile(data, 'worker'), join(data, 'tokens', 'worker'))
})

const one = (...urls: string[]) => new JoinAddresses(urls.map((url) => new URL(url)))

test('a worker announces the address from which it reaches the cluster', async (t) => {
  const server = createServer((socket) => socket.destroy())
  await listen(server, 0, '127.0.0.2', 'port')
  t.after(() => server.close())
  assert.equal(await hostTowards(one(here)), '127.0.0.1')
  assert.match(await hostTowards(one(urlOf(server, '127.0.0.2', 'tls'))), /^127\.0\.0\.\d$/)
  const both = one('tls://127.0.0.2:1', urlOf(server, '127.0.0.2', 'tls'))
  assert.match(await hostTowards(both), /^127\.0\.0\.\d$/)
  await assert.rejects(hostTowards(one('tls://127.0.0.2:1')), {
    code: 'WIRE',
    message: 'cannot join tls://127.0.0.2:1: ECONNREFUSED',
  })
})

test('several addresses are separated by commas, and must be of one kind', (t) => {
  const data = scratch(t)
  openTokens(data)
  const joined = (list: string) =>
    joinFrom({ join: list, id: undefined, tokenFile: undefined, data }, 'worker').join
  const two = joined('tls://a:8082, tls://b:8082')
  assert.deepEqual([two.isFollower, two.isSecure, two.current.host], [true, true, 'a:8082'])
  assert.equal(joined('tls://a:8082').isFollower, false)
  for (const [list, why] of [
    ['tls://a:1,tls://a:1', /names an address twice/],
    [`tls://a:1,${here}`, /must be only tls:\/\/ or only http:\/\/ addresses/],
    ['tls://a:1,', /--join: required/],
    ['tls://a:1,tls://b', /--join = tls:\/\/b: must be/],
  ] as const)
    assert.throws(() => joined(list), why)
})
