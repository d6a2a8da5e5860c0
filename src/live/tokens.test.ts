import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { ConfigError } from '../lib/errors.ts'
import { newTokens, roles } from '../wire/token.ts'
import { forgetTokens, openTokens, readToken, tokenFile, tokensInEnvironment } from './tokens.ts'

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-tokens-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

const modeOf = (path: string) => statSync(path).mode & 0o777

test('the first start creates a random token for each role in private files, and later starts read them', (t) => {
  const folder = scratch(t)
  const first = openTokens(folder)
  assert.equal(new Set(Object.values(first)).size, 3)
  for (const role of roles) {
    assert.ok(Buffer.from(first[role], 'base64url').length >= 16, 'at least 128 bits')
    assert.equal(readFileSync(tokenFile(folder, role), 'utf8'), `${first[role]}\n`)
    assert.equal(modeOf(tokenFile(folder, role)), 0o600)
  }
  assert.equal(modeOf(join(folder, 'tokens')), 0o700)
  assert.deepEqual(openTokens(folder), first)
  assert.notDeepEqual(openTokens(scratch(t)), first)
})

test('a token file that others can read is made private', (t) => {
  const folder = scratch(t)
  const first = openTokens(folder)
  const file = tokenFile(folder, 'front')
  chmodSync(file, 0o644)
  assert.deepEqual(openTokens(folder), first)
  assert.equal(modeOf(file), 0o600)
})

test('tokens of the environment replace files, and are forgotten after they are read', (t) => {
  const folder = scratch(t)
  const { worker, front } = newTokens()
  const env = { PLIMSOLL_WORKER_TOKEN: worker, PLIMSOLL_FRONT_TOKEN: front, PATH: '/bin' }
  const tokens = openTokens(folder, tokensInEnvironment(env))
  assert.deepEqual([tokens.worker, tokens.front], [worker, front])
  assert.equal(tokens.operator, readToken(tokenFile(folder, 'operator')))
  forgetTokens(env)
  assert.deepEqual(env, { PATH: '/bin' })
})

test('a wrong token is refused with what is allowed, and is never quoted', (t) => {
  const folder = scratch(t)
  mkdirSync(join(folder, 'tokens'))
  const refused = (action: () => unknown, message: RegExp) =>
    assert.throws(action, (error) => {
      assert.ok(error instanceof ConfigError)
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /sesame/)
      return true
    })
  const env = { PLIMSOLL_WORKER_TOKEN: 'sesame' }
  refused(
    () => tokensInEnvironment(env),
    /^PLIMSOLL_WORKER_TOKEN: not a token, because it has 6 characters; must be 22 to/,
  )
  refused(
    () => tokensInEnvironment({ PLIMSOLL_TOKEN: 'sesame' }),
    /^PLIMSOLL_TOKEN: each role has a token of its own; set PLIMSOLL_WORKER_TOKEN, /,
  )
  writeFileSync(tokenFile(folder, 'worker'), '\n')
  refused(() => openTokens(folder), /tokens\/worker: not a token, because it is empty/)
  refused(() => readToken(join(folder, 'none')), /none: no such file$/)
  refused(() => readToken(folder, '--token-file'), /^--token-file: cannot be read \(EISDIR\)$/)
  const same = 'sesame'.repeat(5)
  refused(
    () => openTokens(scratch(t), { worker: same, front: same }),
    /the worker token and the front token are equal/,
  )
})
