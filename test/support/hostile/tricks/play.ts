/** Plays a trick on a connection, and judges it by the answers and by what the server behind saw. */

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { dial, until } from '../raw.ts'
import { hiddenId, type Trick } from './trick.ts'

/** `first`: it begins its connection, so Node's server reads it. `kept`: it follows a small request, so the fast path sees it first. */
export const turns = ['first', 'kept', 'split'] as const
export type Turn = (typeof turns)[number]

export interface Played {
  trick: Trick
  turn: Turn
  id: string
  /** Statuses of all final answers. */
  answers: number[]
}

/** Nothing follows an answer for this time. */
const quietMs = 300
/** A request that is never complete is ended by the client after this time. */
const patienceMs = 2_000
/** Then its answer and the end of the connection come within this time, even on a busy machine. */
const endMs = 20_000

export async function play(port: number, trick: Trick, turn: Turn, id: string): Promise<Played> {
  const socket = await dial(port, { allowHalfOpen: true })
  let text = ''
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part
  })
  const closed = once(socket, 'close')
  if (turn !== 'first') {
    socket.write('GET /double?n=21 HTTP/1.1\r\nHost: x\r\n\r\n')
    await until('the request before is answered', () => text.endsWith('42'))
    text = ''
  }
  await send(socket, Buffer.from(trick.bytes(id), 'latin1'), turn)
  const ends = performance.now() + patienceMs
  while (!socket.closed && performance.now() < ends) {
    const before = text
    await Promise.race([closed, delay(quietMs)])
    if (text !== '' && text === before) break
  }
  socket.end()
  await Promise.race([closed, delay(endMs, undefined, { ref: false })])
  socket.destroy()
  return { trick, turn, id, answers: answersIn(text) }
}

/** In two pieces, the second one when the first one was read. */
async function send(socket: Socket, bytes: Buffer, turn: Turn): Promise<void> {
  if (turn === 'split') {
    const middle = Math.min(bytes.length >> 1, 40)
    socket.setNoDelay(true).write(bytes.subarray(0, middle))
    await delay(50)
    socket.write(bytes.subarray(middle))
  } else socket.write(bytes)
}

function answersIn(text: string): number[] {
  const all = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  return all.filter((status) => status >= 200 || status === 101)
}

/** What is wrong, or undefined. `seen`: ids of the requests that the server behind saw. */
export function judge({ trick, id, answers }: Played, seen: readonly string[]): string | undefined {
  const count = seen.filter((each) => each === id).length
  if (seen.includes(hiddenId(id))) return 'the hidden request was seen'
  if (answers.length !== 1) return `${answers.length} answers: ${answers}`
  const [status] = answers as [number]
  if (count > 1) return `it was seen ${count} times`
  if (trick.outcome === 'refused' && (status < 400 || count > 0))
    return `it got ${status} and was seen ${count} times, but must be refused`
  if (trick.outcome === 'one' && (status >= 400 || count !== 1))
    return `it got ${status} and was seen ${count} times, but is valid`
  return undefined
}
