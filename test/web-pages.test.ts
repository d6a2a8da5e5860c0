/** Requests as pages and forms send them: form bodies, and other origins. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { fixtures, inputs, problemOf, useLive } from './support/live.ts'

const shop = 'https://shop.example'
const live = useLive({ files: [fixtures, inputs] })
const open = useLive({ files: [fixtures, inputs], frontLimits: { corsOrigins: [shop] } })

const post = (path: string, body: string, type = 'application/x-www-form-urlencoded', url = live.url) =>
  fetch(url + path, { method: 'POST', body, headers: { 'content-type': type } })

test('CN-16 CP-1 a form gives the parameters, as `curl -d` sends it', async () => {
  assert.equal(await (await post('/strict', 'n=21')).text(), '42')
  const { params } = (await (await post('/echo?a=1', 'b=x+y%21&c=')).json()) as { params: object }
  assert.deepEqual(params, { a: '1', b: 'x y!', c: '' })
  const latin = 'Application/X-WWW-Form-URLEncoded; charset=utf-8'
  assert.equal(await (await post('/strict', 'n=21', latin)).text(), '42')
  assert.equal(await (await post('/strict?n=21', '')).text(), '42')
})

test('parameters of a form are checked like others', async () => {
  assert.equal((await problemOf(post('/strict', 'n=x'), 400)).code, 'bad-parameters')
  const twice = await problemOf(post('/strict?n=1', 'n=2'), 400)
  assert.match(twice.detail, /^n: given more than once/)
  const large = await problemOf(post('/echo', `a=${'x'.repeat(64 * 1024)}`), 413)
  assert.equal(large.code, 'params-too-large')
  assert.equal((await post('/echo', `a=${'x'.repeat(64 * 1024 - 2)}`)).status, 200)
})

test('other bodies are data', async () => {
  const { params } = (await (await post('/echo', 'n=21', 'text/plain')).json()) as { params: object }
  assert.deepEqual(params, {})
})

test('CN-16 pages of allowed origins may read answers and errors, and no others may', async () => {
  const ask = (path: string, origin?: string, url = open.url) =>
    fetch(url + path, origin === undefined ? {} : { headers: { origin } })
  for (const path of ['/strict?n=21', '/strict?n=x', '/-/estimate/strict?n=21', '/nothing']) {
    const answer = await ask(path, shop)
    await answer.text()
    assert.equal(answer.headers.get('access-control-allow-origin'), shop, path)
    assert.equal(answer.headers.get('access-control-expose-headers'), '*')
    assert.equal(answer.headers.get('vary'), 'Origin')
    for (const other of [await ask(path, 'https://other.example'), await ask(path)]) {
      await other.text()
      assert.equal(other.headers.get('access-control-allow-origin'), null)
    }
    const closed = await ask(path, shop, live.url)
    await closed.text()
    assert.equal(closed.headers.get('access-control-allow-origin'), null, 'off by default')
    assert.equal(closed.headers.get('vary'), null)
  }
})

test('CN-16 a preflight request is answered without a job', async () => {
  const asks = { origin: shop, 'access-control-request-method': 'POST' }
  const headers = { ...asks, 'access-control-request-headers': 'content-type,plimsoll-deadline' }
  const before = open.state().counters.accepted
  const answer = await fetch(`${open.url}/strict`, { method: 'OPTIONS', headers })
  assert.equal(answer.status, 204)
  assert.equal(answer.headers.get('access-control-allow-origin'), shop)
  assert.equal(answer.headers.get('access-control-allow-methods'), 'GET, HEAD, POST')
  assert.equal(answer.headers.get('access-control-allow-headers'), 'content-type,plimsoll-deadline')
  assert.equal(open.state().counters.accepted, before)
  await problemOf(fetch(`${live.url}/strict`, { method: 'OPTIONS', headers }), 405)
})
