/** `plimsoll up` with an existing server whose small requests are sent directly, and a client that sees every byte. */

import { hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startUp, type Up } from './up.ts'

const program = join(import.meta.dirname, '..', 'fixtures', 'direct-program.mjs')
/** No request is slow, not even on a busy machine. */
export const patient = ['--direct-below', '1000']

export async function startServer(t: TestContext, ...args: string[]): Promise<Up & { folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-direct-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'plimsoll.config.json')
  const command = `${process.execPath} ${program} {port} ${folder}`
  const routes = [
    { name: 'slow', path: '/slow' },
    { name: 'limited', path: '/limited', limitMs: 60_000 },
    { name: 'rest', path: '/**' },
  ]
  writeFileSync(config, JSON.stringify({ workers: { command, health: '/health', concurrency: 8 }, routes }))
  return { ...(await startUp(t, '--config', config, ...args)), folder }
}

export interface Raw {
  head: string
  body: string
  isDirect: boolean
}

/** The bytes of an answer, on a connection of its own. */
export async function ask({ url }: Up, path: string, lines = '', method = 'GET', body = ''): Promise<Raw> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.write(`${method} ${path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n${lines}\r\n${body}`)
  await once(socket, 'close')
  return parse(Buffer.concat(chunks).toString('latin1'))
}

export function parse(text: string): Raw {
  const end = text.indexOf('\r\n\r\n')
  const head = text.slice(0, end)
  const rest = text.slice(end + 4)
  // Nothing is estimated, and nothing waits in a queue.
  const isDirect = /server-timing: estimate;dur=0\.000, queue;dur=0\.000,/.test(head)
  return { head, body: /^transfer-encoding: chunked/im.test(head) ? joined(rest) : rest, isDirect }
}

/** Where a body is divided into chunks is a matter of chance. Trailers stay. */
function joined(chunks: string): string {
  let body = ''
  for (let at = 0; ; ) {
    const start = chunks.indexOf('\r\n', at) + 2
    const size = Number.parseInt(chunks.slice(at, start), 16)
    // An answer without a body, to HEAD.
    if (Number.isNaN(size)) return chunks
    if (size === 0) return body + chunks.slice(start)
    body += chunks.slice(start, start + size)
    at = start + size + 2
  }
}

/** Without what differs from request to request. */
export const comparable = ({ head, body }: Raw) => ({
  head: head.replaceAll(/^(plimsoll-job|plimsoll-work|server-timing|date): .*$/gim, '$1: -'),
  body: body.length > 1_000 ? `${body.length} ${hash('sha256', body)}` : body,
})

/** Asks until a request is sent directly. On a busy machine some may not be, even later. */
export async function askDirectly(up: Up, path = '/small', method = 'GET'): Promise<Raw> {
  const by = performance.now() + 120_000
  for (let count = 1; ; count++) {
    const answer = await ask(up, path, '', method)
    if (answer.isDirect) return answer
    if (performance.now() > by) throw new Error(`${count} requests to ${path}, and none is sent directly`)
  }
}

interface Facts {
  pid: number
  seen: Record<string, number>
  aborted: Record<string, number>
}
export const facts = async (up: Up) => JSON.parse((await ask(up, '/facts', general)).body) as Facts
export const untilFacts = async (up: Up, isSo: (facts: Facts) => boolean, what: string) => {
  const by = performance.now() + 60_000
  while (!isSo(await facts(up)))
    if (performance.now() > by) throw new Error(`timed out waiting until ${what}`)
}
/** A header that is not passed on, and with which a request takes the general path. */
export const general = 'te: trailers\r\n'
