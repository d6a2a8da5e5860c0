/** Joins a front's connection and a program's once both speak the program's own protocol, such as WebSocket. */
import type { Duplex } from 'node:stream'
import { attemptProtocol, headers } from '../wire/messages.ts'
import type { SlotAnswer } from './slots/slot-run.ts'

/** How long a program may take to close its side when the client has closed its own. */
const lingerMs = 1_000

export function join(
  front: Duplex,
  first: Buffer,
  { head, socket: program }: Extract<SlotAnswer, { kind: 'upgraded' }>,
): void {
  const told = Buffer.from(JSON.stringify(head)).toString('base64url')
  front.write(
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\n' +
      `upgrade: ${attemptProtocol}\r\n${headers.head}: ${told}\r\n\r\n`,
  )
  if (first.length > 0) program.write(first)
  let linger: NodeJS.Timeout | undefined
  // Both ends are told of an end by `pipe`; these are for connections that break.
  front.on('close', () => {
    program.end()
    linger = setTimeout(() => program.destroy(), lingerMs)
  })
  program.on('close', () => {
    clearTimeout(linger)
    if (program.errored) front.destroy()
    else front.end()
  })
  front.pipe(program)
  program.pipe(front)
  if (front.destroyed) program.destroy()
}
