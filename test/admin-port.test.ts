/** The admin port under attack: from pages in the operator's browser, from other users, and with the wrong token. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { bearer, newToken } from '../src/wire/token.ts'
import { assertWell, cli, startLive, stopLive, useLive } from './support/live.ts'

const live = useLive({ slots: 4 })

interface Reply {
  status: number
  body: string
}

/** Without the headers that `fetch` adds or forbids. */
function ask(
  adminUrl: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<Reply> {
  const { hostname, port } = new URL(adminUrl)
  return new Promise((resolve, reject) => {
    const call = request({ hostname, port, method, path, headers, agent: false }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      resolve({ status: response.statusCode!, body: text })
    })
    call.on('error', reject)
    call.end(body)
  })
}

const json = { 'content-type': 'application/json' }
const all = '{"fronts":true,"workers":true}'

test('a restart needs the operator token, on loopback too', async () => {
  const workers = () => live.state().workers.map(({ pid }) => pid)
  const before = workers()
  const restart = (headers: Record<string, string>) =>
    ask(live.adminUrl, 'POST', '/api/restart', { ...json, ...headers }, all)
  const bare = await restart({})
  assert.deepEqual([bare.status, JSON.parse(bare.body).detail], [401, 'The operator token is required.'])
  const guessed = await restart({ authorization: bearer(newToken()) })
  assert.deepEqual([guessed.status, JSON.parse(guessed.body).type], [401, 'urn:plimsoll:not-authorized'])
  for (const role of ['worker', 'front'] as const) {
    const { status, body } = await restart({ authorization: bearer(live.tokens[role]) })
    assert.deepEqual(
      [status, JSON.parse(body).detail],
      [403, `This is the ${role} token; the operator token is required.`],
    )
  }
  assert.deepEqual(workers(), before)
  const done = await restart({ authorization: bearer(live.tokens.operator) })
  assert.equal(done.status, 200)
  assert.match(done.body, /\{"done":true\}\n$/)
  assert.notDeepEqual(workers(), before)
})

test('requests for another host, or sent by a page of another site, are refused before anything else', async () => {
  const authorization = bearer(live.tokens.operator)
  for (const host of ['evil.example', 'evil.example:8081', '127.0.0.1.evil.example'])
    for (const [method, path] of [
      ['GET', '/api/state'],
      ['GET', '/api/jobs/x/why'],
      ['POST', '/api/restart'],
      ['GET', '/api/cache/x'],
    ])
      assert.equal(
        (await ask(live.adminUrl, method!, path!, { host, authorization }, '')).status,
        421,
        `${host} ${path}`,
      )
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
  ])
    for (const [method, path] of [
      ['GET', '/api/state'],
      ['POST', '/api/restart'],
    ])
      assert.equal(
        (await ask(live.adminUrl, method!, path!, { ...headers, authorization })).status,
        403,
        JSON.stringify(headers),
      )
  const upgrade = (headers: string) =>
    new Promise<string>((resolve) => {
      const { hostname, port } = new URL(live.adminUrl)
      const socket = connect(Number(port), hostname)
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('close', () => resolve(text))
      socket.write(
        `GET /-/wire HTTP/1.1\r\n${headers}connection: upgrade\r\nupgrade: plimsoll\r\nplimsoll-role: worker\r\nauthorization: ${bearer(live.tokens.worker)}\r\n\r\n`,
      )
    })
  assert.match(await upgrade('host: evil.example\r\n'), /^HTTP\/1\.1 421 /)
  assert.match(await upgrade('host: localhost\r\norigin: https://evil.example\r\n'), /^HTTP\/1\.1 403 /)
  await assertWell(live)
})

test('reading needs no token on loopback', async () => {
  for (const host of ['localhost:8081', '127.0.0.1', '[::1]:8081'])
    assert.equal((await ask(live.adminUrl, 'GET', '/api/state', { host })).status, 200, host)
  const { body } = await ask(live.adminUrl, 'GET', '/api/state')
  for (const token of Object.values(live.tokens)) assert.ok(!body.includes(token))
})

test('the rows of a published system are read from a cluster that runs', async () => {
  const rows = (query: string) => ask(live.adminUrl, 'GET', `/api/rows?${query}`)
  const { status, body } = await rows('preset=ecowork&limit=3')
  assert.deepEqual([status, JSON.parse(body)], [200, { 'foxes-rabbits': [], 'insect-war': [], compress: [] }])
  for (const [query, detail] of [
    ['preset=nginx', /preset = nginx: must be one of cloudprime/],
    ['', /preset = : must be one of/],
    ['preset=cnv&limit=0', /limit = 0: must be an integer from 1/],
    ['preset=cnv&limit=x', /limit = NaN: must be an integer/],
  ] as const) {
    const wrong = await rows(query)
    assert.equal(wrong.status, 400, query)
    assert.match(wrong.body, detail)
  }
})

test('on another address than loopback every request needs the operator token, and names must be allowed', async (t) => {
  const open = await startLive({ adminHost: '0.0.0.0', adminNames: ['admin.example'], min: 1 })
  t.after(() => stopLive(open))
  await assertWell(open)
  const authorization = bearer(open.tokens.operator)
  for (const path of ['/api/state', '/api/rows', '/api/jobs/x/why', '/metrics', '/']) {
    assert.equal((await ask(open.adminUrl, 'GET', path)).status, 401, path)
    assert.notEqual((await ask(open.adminUrl, 'GET', path, { authorization })).status, 401, path)
  }
  const status = async (host: string) =>
    (await ask(open.adminUrl, 'GET', '/api/state', { host, authorization })).status
  assert.deepEqual([await status('admin.example:8081'), await status('other.example')], [200, 421])
  const asked = await plimsoll('status', '--admin', open.adminUrl, '--data', open.dataDir)
  assert.deepEqual([asked.code, /1 worker ready/.test(asked.said)], [0, true], asked.said)
  const refused = await plimsoll('status', '--admin', open.adminUrl, '--data', '/nowhere')
  assert.equal(refused.code, 2)
  assert.match(
    refused.said,
    /the operator token is required, but \/nowhere\/tokens\/operator: no such file\n/,
  )
})

function plimsoll(...args: string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [cli, ...args], { timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
    )
  })
}

test('the command finds the token in the data folder, and says what to do if it cannot', async () => {
  const at = ['restart', '--workers', '--admin', live.adminUrl]
  const done = await plimsoll(...at, '--data', live.dataDir)
  assert.deepEqual([done.code, /Done\.\n$/.test(done.said)], [0, true], done.said)
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-none-'))
  const lost = await plimsoll(...at, '--data', folder)
  assert.equal(lost.code, 2)
  assert.match(
    lost.said,
    /^plimsoll: the operator token is required, but .*tokens\/operator: no such file\nName the data folder .*--data DIR.*--token-file FILE.*PLIMSOLL_OPERATOR_TOKEN/,
  )
  const wrong = await plimsoll(...at, '--token-file', join(live.dataDir, 'tokens', 'worker'))
  assert.equal(wrong.code, 2)
  assert.match(wrong.said, /answered 403: This is the worker token; the operator token is required\./)
  rmSync(folder, { recursive: true })
})

test('a token that belongs to another user is reported with what to do', {
  skip: process.getuid?.() === 0,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-other-'))
  t.after(() => {
    chmodSync(folder, 0o700)
    rmSync(folder, { recursive: true })
  })
  mkdirSync(join(folder, 'tokens'))
  chmodSync(folder, 0)
  const { code, said } = await plimsoll('restart', '--admin', live.adminUrl, '--data', folder)
  assert.equal(code, 2)
  assert.match(said, /tokens\/operator: cannot be read \(EACCES\)/)
})
