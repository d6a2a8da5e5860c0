/** One virtual client: sends a request over HTTP, and reads its answer as fast as it likes. */

import type { Duplex } from 'node:stream'

/** How a request ended for its client. */
export type Ending =
  | { kind: 'result'; value: number }
  | { kind: 'problem'; status: number; code: string; problems: number }
  | { kind: 'broken' }

/** How a client reads. */
export interface Pace {
  bytes: number
  everyMs: number
}

/** Returns how the client disconnects. Without a pace it reads as fast as it can. */
export function sendRequest(
  socket: Duplex,
  params: object,
  pace: Pace | undefined,
  ended: (ending: Ending) => void,
): () => void {
  // Reset before it was there.
  if (socket.destroyed) {
    ended({ kind: 'broken' })
    return () => {}
  }
  const body = JSON.stringify(params)
  socket.write(
    `POST /job HTTP/1.1\r\nhost: virtual\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  const chunks: Buffer[] = []
  let over = false
  const end = () => {
    if (over) return
    over = true
    clearInterval(timer)
    ended(answerIn(Buffer.concat(chunks).toString('latin1')))
    socket.destroy()
  }
  socket.on('error', end).on('close', end).on('end', end)
  let timer: NodeJS.Timeout | undefined
  if (pace) timer = readSlowly(socket, pace, chunks)
  else socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => {
    over = true
    clearInterval(timer)
    socket.destroy()
  }
}

function readSlowly(socket: Duplex, { bytes, everyMs }: Pace, chunks: Buffer[]): NodeJS.Timeout {
  socket.on('readable', () => {})
  return setInterval(() => {
    const length = Math.min(bytes, socket.readableLength)
    const chunk: Buffer | null = length > 0 ? socket.read(length) : socket.read()
    if (chunk) chunks.push(chunk)
  }, everyMs)
}

/** Reads what a connection has received, without informational responses. */
function answerIn(text: string): Ending {
  const [, status, head, rest] = /^HTTP\/1\.1 (\d+) [^\r]*\r\n((?:[^\r]+\r\n)*)\r\n(.*)$/s.exec(text) ?? []
  if (status === undefined) return { kind: 'broken' }
  if (status.startsWith('1')) return answerIn(rest!)
  const [, length] = /content-length: (\d+)/i.exec(head!) ?? []
  const body = length === undefined ? chunked(rest!) : rest!
  if (body === undefined || (length !== undefined && body.length !== Number(length)))
    return { kind: 'broken' }
  if (status === '200') return { kind: 'result', value: Number(body) }
  const { type, errors = [] } = JSON.parse(body) as { type: string; errors?: unknown[] }
  return { kind: 'problem', status: Number(status), code: type.split(':').at(-1)!, problems: errors.length }
}

/** Undefined: the body is not complete. */
function chunked(text: string): string | undefined {
  const parts: string[] = []
  for (let at = 0; ; ) {
    const end = text.indexOf('\r\n', at)
    const length = end < 0 ? Number.NaN : Number.parseInt(text.slice(at, end), 16)
    if (Number.isNaN(length)) return undefined
    if (length === 0) return text.endsWith('\r\n\r\n') ? parts.join('') : undefined
    parts.push(text.slice(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}
