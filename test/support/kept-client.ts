/** A client that sees every byte of the answers on its connection. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { parse, type Raw } from './direct.ts'
import type { Up } from './up.ts'

/** A client that sends one request after another on a connection. */
export class KeptClient {
  readonly #socket: Socket
  #text = ''

  constructor({ url }: Pick<Up, 'url'>, cert?: string) {
    const { hostname, port } = new URL(url)
    const to = { host: hostname, port: Number(port) }
    this.#socket = cert ? connectTls({ ...to, ca: cert }) : connect(to)
    this.#socket.setEncoding('latin1').on('data', (text: string) => {
      this.#text += text
    })
  }

  async ask(path: string, method = 'GET', lines = '', body?: string): Promise<Raw> {
    this.#text = ''
    const length = body === undefined ? '' : `content-length: ${body.length}\r\n`
    const sent = `${method} ${path} HTTP/1.1\r\nhost: h\r\nx-a: 1\r\nX-A: 2\r\n${lines}${length}\r\n`
    this.#socket.write(sent + (body ?? ''), 'latin1')
    while (!isComplete(this.#text, method)) await once(this.#socket, 'data')
    const { head, isDirect } = parse(this.#text)
    return { head, isDirect, body: this.#text.slice(head.length + 4) }
  }

  /** On a busy machine some requests may not be sent directly. */
  async askDirectly(path: string, method?: string, lines?: string, body?: string): Promise<Raw> {
    const by = performance.now() + 120_000
    for (;;) {
      const answer = await this.ask(path, method, lines, body)
      if (answer.isDirect) return answer
      if (performance.now() > by) throw new Error(`no request to ${path} is sent directly`)
    }
  }

  close(): void {
    this.#socket.destroy()
  }
}

function isComplete(text: string, method: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const head = text.slice(0, end)
  if (method === 'HEAD' || / (204|304) /.test(head.slice(0, 15))) return true
  const [, length] = /^content-length: (\d+)$/im.exec(head) ?? []
  return length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length === end + 4 + Number(length)
}
