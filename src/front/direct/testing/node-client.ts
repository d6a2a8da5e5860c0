/** What Node's HTTP client makes of given bytes: the general path reads answers with it. */

import { Agent, request } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { ReadAnswer } from './read-answer.ts'

export interface BytesServer {
  /** Undefined: Node rejects the answer, or it is incomplete. */
  answer(method: string, bytes: Buffer): Promise<ReadAnswer | undefined>
  close(): void
}

/** Each connection gets the next bytes, then its end. */
export async function bytesServer(): Promise<BytesServer> {
  let next: Buffer = Buffer.alloc(0)
  const server: Server = createServer((socket) => {
    socket.on('error', () => {})
    const bytes = next
    socket.once('data', () => socket.end(bytes))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    answer(method, bytes) {
      next = bytes
      const agent = new Agent({ keepAlive: true })
      return new Promise<ReadAnswer | undefined>((resolve) => {
        const call = request({ port, host: '127.0.0.1', method, agent, maxHeaderSize: 256 * 1024 })
        // After the head, the answer reports whether it is complete.
        let hasHead = false
        call.on('error', () => hasHead || resolve(undefined))
        call.on('close', () => hasHead || resolve(undefined))
        call.on('response', (answer) => {
          hasHead = true
          const { statusCode: status = 0, statusMessage: message = '', rawHeaders: headers } = answer
          const body: Buffer[] = []
          answer.on('data', (piece: Buffer) => body.push(piece))
          answer.on('error', () => {})
          answer.on('close', () => {
            const whole = { status, message, headers, body: Buffer.concat(body).toString('latin1') }
            resolve(answer.complete && answer.rawTrailers.length === 0 ? whole : undefined)
          })
        })
        call.end()
      }).finally(() => agent.destroy())
    },
    close: () => server.close(),
  }
}
