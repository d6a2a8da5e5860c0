/** A worker that answers every attempt at once with "ok", and shows what its program would receive. */

import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'
import { Exchange } from '../../src/front/exchange.ts'
import type { Submission } from '../../src/front/request/submit.ts'
import { type HttpRequest, headers } from '../../src/wire/messages.ts'

export interface FakeWorker {
  /** Takes the place of the brain: sends one attempt and accepts its result. */
  submit(submission: Submission): void
  close(): void
}

const answer = Buffer.from(JSON.stringify({ status: 200, message: 'OK', headers: ['content-length', '2'] }))

/** `see` is called with each request for the program. */
export async function fakeWorker(see: (request: HttpRequest) => void): Promise<FakeWorker> {
  const server = createServer(async (request, response) => {
    // A client that disconnects ends its attempt.
    const body = await bytesOf(request).catch(() => undefined)
    if (!body) return
    const head = body.subarray(0, Number(request.headers[headers.headBytes])).toString()
    see((JSON.parse(head) as { http: HttpRequest }).http)
    response.writeHead(200, { [headers.outcome]: 'result', [headers.headBytes]: `${answer.length}` })
    response.end(Buffer.concat([answer, Buffer.from('ok')]))
  })
  server.on('upgrade', (request, socket) => {
    socket.on('error', () => {})
    const head = Buffer.from(String(request.headers[headers.head]), 'base64url').toString()
    see((JSON.parse(head) as { http: HttpRequest }).http)
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  const dispatcher = new Pool(`http://${address.host}:${address.port}`)
  const agent = new Agent({ keepAlive: true })
  return {
    submit(submission) {
      const { id: job } = submission.job
      const exchange: Exchange = new Exchange({
        ...submission,
        token: 'fuzz',
        log() {},
        ended() {},
        tell({ type }) {
          if (type === 'finished')
            exchange.settle({ type: 'answer', job, outcome: 'result', reason: { code: 'finished' } })
          else if (type === 'failed')
            exchange.settle({ type: 'answer', job, outcome: 'refused', reason: { code: 'attempts' } })
        },
      })
      void exchange.run({ epoch: 1, job, attempt: 1 }, { id: 'w', dispatcher, address, agent })
    },
    close() {
      dispatcher.destroy().catch(() => {})
      agent.destroy()
      server.closeAllConnections()
      server.close()
    },
  }
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await request.toArray())
}
