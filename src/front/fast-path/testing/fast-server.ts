/** A server with a fast path for tests, which answer its requests themselves. */

import { once } from 'node:events'
import type { ServerOptions } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { HttpHead } from '../../../wire/messages.ts'
import { AnswerStore } from '../../answer-buffer.ts'
import { FrontServer } from '../../connection-steps.ts'
import { watchConnections } from '../../connections.ts'
import type { DirectExchange } from '../../direct/direct-request.ts'
import { ResponseExchange } from '../../direct/response-exchange.ts'
import { frontDefaults } from '../../front.ts'
import type { RequestHead } from '../../request/request-head.ts'
import { keepAliveMs } from '../answer-text.ts'
import { FastPath } from '../fast-path.ts'

export interface Taken {
  request: RequestHead
  exchange: DirectExchange
}

/** A server whose fast path takes paths that begin with `/fast`. All other requests are answered by Node's server. */
export async function serve(t: TestContext, options: ServerOptions = {}) {
  const taken: Taken[] = []
  const waiting: ((taken: Taken) => void)[] = []
  const general: string[] = []
  const direct = {
    ...{ isOpen: true, longestBody: 65_536 },
    take(request: RequestHead, exchange: DirectExchange) {
      if (!request.url!.startsWith('/fast')) return false
      const wanted = waiting.shift()
      if (wanted) wanted({ request, exchange })
      else taken.push({ request, exchange })
      return true
    },
  }
  const server = new FrontServer({ keepAliveTimeout: keepAliveMs, ...options }, (request, response) => {
    watch.add(response)
    if (server.fastPath?.claims(request, response)) return
    general.push(`${request.method} ${request.url}`)
    request.resume().on('end', () => response.end(`node ${request.url}`))
  })
  const watch = watchConnections(server)
  const parts = {
    limits: frontDefaults,
    answers: new AnswerStore(frontDefaults),
    general: (_request: unknown, response: { end(text: string): void }) => response.end('general'),
  }
  server.fastPath = new FastPath({
    ...{ direct, limits: frontDefaults, isIdle: watch.isIdle },
    exchangeOf: (request, response) => new ResponseExchange(request, response, parts),
  })
  server.on('connection', (socket: Socket) => server.fastPath!.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.fastPath?.close()
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as { port: number }
  const next = () =>
    new Promise<Taken>((resolve) => {
      const found = taken.shift()
      if (found) resolve(found)
      else waiting.push(resolve)
    })
  return { server, port, direct, general, next, taken, client: () => Client.open(port) }
}

/** A client whose first request was answered, so that the next ones may take the fast path. */
export class Client {
  readonly socket: Socket
  text = ''

  constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.text += text
    })
    socket.on('error', () => {})
  }

  static async open(port: number): Promise<Client> {
    const client = new Client(connect(port, '127.0.0.1'))
    client.send(get('/first'))
    await client.until(/node \/first\r\n0\r\n\r\n$|node \/first$/)
    client.text = ''
    return client
  }

  send(text: string): void {
    this.socket.write(text, 'latin1')
  }

  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) await once(this.socket, 'data')
  }
}

export const get = (path: string, lines = '') => `GET ${path} HTTP/1.1\r\nhost: h\r\n${lines}\r\n`
export const okHead: HttpHead = { status: 200, message: 'OK', headers: ['content-length', '2'] }
export const answer = ({ exchange }: Taken, head = okHead, body = [Buffer.from('ok')]) =>
  exchange.client().deliverProxied(head, body, [])
