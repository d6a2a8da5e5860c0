/** What commands say of certificates that they cannot accept. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { getJson } from '../src/cli/terminal/client.ts'
import { newCertificate } from './support/certificates.ts'

test('a certificate that is not trusted, or has another name, is an error that says what to do', async (t) => {
  const own = newCertificate('one.example')
  const server = createServer(own, (_, response) => response.end('{}'))
  server.listen(0, 'localhost')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const asked = getJson(new URL(`https://localhost:${port}`), '/')
  await assert.rejects(asked, { code: 'UNREACHABLE', message: /no trusted authority.*NODE_EXTRA_CA_CERTS/ })
  setDefaultCACertificates([...getCACertificates(), own.cert])
  const trusted = getJson(new URL(`https://localhost:${port}`), '/')
  await assert.rejects(trusted, {
    code: 'UNREACHABLE',
    message: /is not valid for localhost .*give the address/,
  })
})
