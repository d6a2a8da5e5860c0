import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import test, { type TestContext } from 'node:test'
import { secureSocket } from '../../wire/secure.ts'
import { newToken } from '../../wire/token.ts'
import { attemptPort } from './attempt-port.ts'

const token = newToken()

async function opened(t: TestContext, host: string, isRemote: boolean) {
  const port = attemptPort(
    createServer((_, response) => response.end('inside')),
    host,
    token,
    isRemote,
  )
  await port.open()
  t.after(() => port.close())
  return port.address()
}

test('a worker of this machine accepts attempts in plain text', async (t) => {
  const { host, port, tls } = await opened(t, '127.0.0.1', false)
  assert.equal(tls, undefined)
  assert.equal(await (await fetch(`http://${host}:${port}`)).text(), 'inside')
})

test('a worker that fronts of other machines reach accepts attempts only over TLS, with the token of attempts', async (t) => {
  for (const [listen, isRemote] of [
    ['127.0.0.2', true],
    ['0.0.0.0', false],
  ] as const) {
    const { port, tls } = await opened(t, listen, isRemote)
    assert.equal(tls, true)
    const host = '127.0.0.2'
    assert.equal((await fetch(`http://${host}:${port}`)).status, 400)
    const ask = (secret: { identity: string; token: string }) => {
      const call = request({ path: '/', createConnection: () => secureSocket({ host, port }, secret) })
      call.end()
      return once(call, 'response')
    }
    await assert.rejects(ask({ identity: 'front', token: newToken() }))
    await assert.rejects(ask({ identity: 'worker', token }))
    const [response] = await ask({ identity: 'front', token })
    assert.equal(Buffer.concat(await response.toArray()).toString(), 'inside')
    response.socket.destroy()
  }
})
