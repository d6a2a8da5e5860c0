/** Requests on kept connections get the same bytes with and without the fast path, over plain connections and TLS. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { certificateFolder, newCertificate } from './support/certificates.ts'
import { comparable, patient, startServer } from './support/direct.ts'
import { startUp, type Up } from './support/up.ts'

const limit = { timeout: 300_000 }

/** A client that sends one request after another on a connection. */
class KeptClient {
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

  async ask(path: string, method = 'GET'): Promise<{ head: string; body: string; isDirect: boolean }> {
    this.#text = ''
    this.#socket.write(`${method} ${path} HTTP/1.1\r\nhost: h\r\nx-a: 1\r\nX-A: 2\r\n\r\n`)
    while (!isComplete(this.#text, method)) await once(this.#socket, 'data')
    const end = this.#text.indexOf('\r\n\r\n')
    const head = this.#text.slice(0, end)
    const isDirect = /server-timing: estimate;dur=0\.000, queue;dur=0\.000,/.test(head)
    return { head, body: this.#text.slice(end + 4), isDirect }
  }

  /** On a busy machine some requests may not be sent directly. */
  async askDirectly(path: string, method?: string): Promise<{ head: string; body: string }> {
    const by = performance.now() + 120_000
    for (;;) {
      const answer = await this.ask(path, method)
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

/** What a client of each server gets for these paths. */
async function compare(
  t: TestContext,
  start: (...args: string[]) => Promise<Up>,
  paths: readonly string[],
  cert?: string,
): Promise<void> {
  const seen: unknown[][] = []
  for (const setting of ['on', 'off']) {
    const up = await start(...patient, '--fast-path', setting)
    const client = new KeptClient(up, cert)
    t.after(() => client.close())
    const answers: unknown[] = []
    for (const path of paths) {
      for (const method of ['GET', 'HEAD']) {
        const { head, body } = await client.askDirectly(path, method)
        answers.push({ method, path, ...comparable({ head, body, isDirect: true }) })
      }
    }
    seen.push(answers)
  }
  assert.deepEqual(seen[0], seen[1])
}

const paths = ['/small', '/empty', '/same', '/missing', '/fault', '/zero', '/chunks', '/medium', '/headers']

test('answers of programs are the same', limit, (t) =>
  compare(t, (...args) => startServer(t, ...args), paths),
)

test('answers of programs over TLS are the same', limit, async (t) => {
  const certificate = newCertificate('localhost')
  const { files } = certificateFolder(certificate)
  const tls = ['--tls-cert', files.certs[0]!, '--tls-key', files.keys[0]!]
  await compare(t, (...args) => startServer(t, ...args, ...tls), ['/small', '/medium'], certificate.cert)
})

test('answers of workloads are the same', limit, (t) =>
  compare(t, (...args) => startUp(t, ...args), ['/strict?n=21', '/strict?n=0']),
)
