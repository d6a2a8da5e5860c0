import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { watchSpotNotice } from './spot-notice.ts'

const notice = { action: 'terminate', time: '2030-01-01T00:00:00Z' }

async function serve(t: TestContext, handle: RequestListener): Promise<string> {
  const server = createServer(handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a notice is read with a token of the metadata service, once it is there', async (t) => {
  const asked: string[] = []
  const endpoint = await serve(t, ({ method, url, headers }, response) => {
    asked.push(`${method} ${url}`)
    if (method === 'PUT') return void response.end('token')
    if (headers['x-aws-ec2-metadata-token'] !== 'token') return void response.writeHead(401).end()
    if (asked.length < 4) return void response.writeHead(404).end()
    response.end(JSON.stringify(notice))
  })
  const seen = Promise.withResolvers<unknown>()
  const log: string[] = []
  watchSpotNotice({ endpoint, everyMs: 1, log: (line) => log.push(line), onNotice: seen.resolve })
  assert.deepEqual(await seen.promise, notice)
  assert.deepEqual(asked.slice(0, 2), ['PUT /latest/api/token', 'GET /latest/meta-data/spot/instance-action'])
  assert.deepEqual(log, [])
})

test('an expired token is replaced, and failures are logged once', async (t) => {
  let tokens = 0
  const endpoint = await serve(t, ({ method, headers }, response) => {
    if (method === 'PUT') return void response.end(`token-${++tokens}`)
    if (headers['x-aws-ec2-metadata-token'] !== 'token-3') return void response.writeHead(401).end()
    response.end(JSON.stringify(notice))
  })
  const seen = Promise.withResolvers<unknown>()
  const log: string[] = []
  watchSpotNotice({ endpoint, everyMs: 1, log: (line) => log.push(line), onNotice: seen.resolve })
  assert.deepEqual(await seen.promise, notice)
  assert.deepEqual(log, ['the metadata service of the instance does not answer: status 401'])
})
