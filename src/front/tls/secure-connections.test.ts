import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { connect } from 'node:tls'
import { certificateFolder, newCertificate } from '../../../test/support/certificates.ts'
import { until } from '../../../test/support/live.ts'
import { addStep, FrontServer } from '../connection-steps.ts'
import { Http2Sessions } from '../http2/sessions.ts'
import { Certificates } from './certificates.ts'
import { secureStep } from './secure-connections.ts'

test('clients that leave during their handshake are noticed before its time limit', async (t) => {
  const refusals: string[] = []
  const refused = (_: string, why: string) => void refusals.push(why)
  const { files } = certificateFolder(newCertificate('localhost'))
  const certificates = new Certificates({ files, log: () => {} })
  const server = new FrontServer()
  const sessions = new Http2Sessions({ server, headerBytes: 16_384, requestMs: 0, upgrades: false, refused })
  let started = 0
  addStep(server, secureStep(server, { certificates, sessions, refused }))
  addStep(server, (socket, next) => {
    started++
    next(socket)
  })
  server.listen(0, '127.0.0.1')
  t.after(() => {
    server.close()
    certificates.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  for (let i = 0; i < 20; i++) {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    // In TLS 1.3 the client is ready first.
    await once(socket, 'secureConnect')
    socket.destroy()
  }
  await until(() => started === 20 && server.starting.size === 0, 'no handshake is in progress')
  assert.ok(!refusals.some((why) => why.includes('took too long')), refusals.join())
})
