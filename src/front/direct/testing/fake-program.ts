/** A program for tests: requests wait until the test answers them, byte by byte if it likes. */

import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { ProgramAddress } from '../../../wire/programs.ts'

export interface ReceivedRequest {
  text: string
  socket: Socket
}

export interface FakeProgram {
  address: ProgramAddress
  /** All connections that were ever opened. */
  sockets: Socket[]
  /** The next request. */
  next(): Promise<ReceivedRequest>
}

export const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

export async function fakeProgram(t: TestContext): Promise<FakeProgram> {
  const arrived: ReceivedRequest[] = []
  const waiting: ((request: ReceivedRequest) => void)[] = []
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', (data) => {
      const request = { text: data.toString('latin1'), socket }
      const next = waiting.shift()
      if (next) next(request)
      else arrived.push(request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    sockets,
    next: () => {
      const request = arrived.shift()
      return request ? Promise.resolve(request) : new Promise((resolve) => waiting.push(resolve))
    },
  }
}
