/** Requests of HTTP/2, and of pages of other origins: answers on the direct path are those of the general path. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import test, { type TestContext } from 'node:test'
import { certificateFolder, newCertificate } from '../support/certificates.ts'
import { comparable, general, patient, startServer } from '../support/direct.ts'
import { KeptClient } from '../support/kept-client.ts'
import { startUp, type Up } from '../support/up.ts'

const limit = { timeout: 300_000 }
const certificate = newCertificate('localhost')
const { files } = certificateFolder(certificate)
const tls = ['--tls-cert', files.certs[0]!, '--tls-key', files.keys[0]!]
const shop = 'https://shop.example'

/** Only the general path takes it. */
const generally = { te: 'trailers' }

interface Answer {
  headers: Record<string, unknown>
  body: string
  isDirect: boolean
}

class StreamClient {
  readonly #session: ClientHttp2Session

  constructor(t: TestContext, { url }: Up) {
    this.#session = connect(url, { ca: certificate.cert })
    t.after(() => this.#session.destroy())
  }

  async ask(path: string, method: string, headers = {}, body?: string): Promise<Answer> {
    const head = { ':path': path, ':method': method, cookie: ['a=1', 'b=2'], ...headers }
    const stream = this.#session.request(head, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    const [given] = (await once(stream, 'response')) as [Record<string, unknown>]
    const whole = Buffer.concat(await stream.toArray()).toString('latin1')
    const isDirect = String(given['server-timing']).startsWith('estimate;dur=0.000, queue;dur=0.000,')
    for (const name of ['plimsoll-job', 'plimsoll-work', 'server-timing', 'date']) delete given[name]
    return { headers: { ...given }, body: whole, isDirect }
  }

  async askDirectly(path: string, method: string): Promise<Answer> {
    const by = performance.now() + 120_000
    for (;;) {
      const answer = await this.ask(path, method)
      if (answer.isDirect) return answer
      if (performance.now() > by) throw new Error(`no request to ${path} is sent directly`)
    }
  }
}

async function compare(t: TestContext, up: Up, paths: readonly string[]): Promise<StreamClient> {
  const client = new StreamClient(t, up)
  for (const path of paths) {
    for (const method of ['GET', 'HEAD']) {
      const [direct, other] = [
        await client.askDirectly(path, method),
        await client.ask(path, method, generally),
      ]
      assert.equal(other.isDirect, false)
      assert.deepEqual({ ...direct, isDirect: false }, other, `${method} ${path}`)
    }
  }
  return client
}

test('HTTP/2 requests to programs are sent directly, and get the same answers', limit, async (t) => {
  const up = await startServer(t, ...patient, ...tls)
  const paths = ['/small', '/empty', '/same', '/missing', '/fault', '/zero', '/medium', '/large', '/headers']
  const client = await compare(t, up, paths)
  // The program receives the same head.
  const [direct, other] = [
    await client.askDirectly('/seen', 'GET'),
    await client.ask('/seen', 'GET', generally),
  ]
  assert.equal(direct.body, other.body)
  assert.match(direct.body, /^GET \/seen HTTP\/1\.1 .*cookie,a=1; b=2,.*x-forwarded-proto,https/)
  const posted = await client.ask('/echo', 'POST', {}, 'hello')
  assert.deepEqual([posted.isDirect, posted.body], [false, 'hello.'])
})

test('requests of HTTP/2 and of other origins to workloads get the same answers', limit, async (t) => {
  const up = await startUp(t, ...patient, ...tls, '--cors', shop)
  const client = await compare(t, up, ['/strict?n=21', '/strict?n=0'])
  const posted = await client.ask('/strict', 'POST', { 'content-type': 'application/json' }, '{"n":3}')
  assert.deepEqual([posted.isDirect, posted.body], [false, '6'])
  const kept = new KeptClient(up, certificate.cert)
  t.after(() => kept.close())
  const json = 'content-type: application/json\r\n'
  for (const origin of [`origin: ${shop}\r\n`, 'origin: https://other.example\r\n', '']) {
    for (const [method, path, lines, body] of [
      ['GET', '/strict?n=21', '', undefined],
      ['HEAD', '/strict?n=21', '', undefined],
      ['POST', '/strict', json, '{"n":21}'],
    ] as const) {
      const direct = await kept.askDirectly(path, method, origin + lines, body)
      const other = await kept.ask(path, method, origin + lines + general, body)
      assert.equal(other.isDirect, false)
      assert.deepEqual(comparable(direct), comparable(other), `${method} ${path} ${origin}`)
      assert.match(direct.head, /^vary: Origin$/im)
      assert.equal(/^access-control-allow-origin: /im.test(direct.head), origin.includes(shop))
    }
  }
  const asks = `origin: ${shop}\r\naccess-control-request-method: POST\r\n`
  assert.match((await kept.ask('/strict', 'OPTIONS', asks)).head, /^HTTP\/1\.1 204 /)
})
