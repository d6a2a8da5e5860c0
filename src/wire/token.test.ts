import assert from 'node:assert/strict'
import test from 'node:test'
import {
  attemptTokenOf,
  bearer,
  isAuthorized,
  newToken,
  newTokens,
  roles,
  tlsKeyOf,
  tokenRefusal,
} from './token.ts'

test('the token must match exactly', () => {
  for (const given of [undefined, '', 'Bearer', 'Bearer ', 'Bearer secre', 'Bearer secret ', 'secret'])
    assert.equal(isAuthorized(given, 'secret'), false)
  assert.equal(isAuthorized('Bearer secret', 'secret'), true)
})

test('the token of one role is refused for another, with both named', () => {
  const tokens = newTokens()
  for (const role of roles) {
    for (const held of roles) {
      const refusal = tokenRefusal(bearer(tokens[held]), role, tokens)
      if (held === role) assert.equal(refusal, undefined)
      else
        assert.deepEqual(refusal, {
          status: 403,
          message: `this is the ${held} token; the ${role} token is required`,
        })
    }
    assert.equal(tokenRefusal(undefined, role, tokens)?.status, 401)
    assert.equal(tokenRefusal(bearer(newToken()), role, tokens)?.status, 401)
  }
})

test('derived secrets differ from the token and from each other, and are the same on both sides', () => {
  const token = newToken()
  const [attempts, key] = [attemptTokenOf(token), tlsKeyOf(token)]
  assert.equal(new Set([token, attempts, key.toString('base64url')]).size, 3)
  assert.equal(attempts, attemptTokenOf(token))
  assert.equal(key.length, 32)
  assert.notEqual(attempts, attemptTokenOf(newToken()))
})
