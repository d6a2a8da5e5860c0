/** Connects a front's socket with a program's after an upgrade, for instance to WebSocket. */
import type { Duplex } from 'node:stream'
import { attemptProtocol, headers } from '../../wire/messages.ts'
import type { JobAnswer } from '../job-run.ts'

/** Time allowed for a program to close its side after the client closed its side. */
const lingerMs = 1_000

export function joinSockets(
  front: Duplex,
  first: Buffer,
  { head, socket: program }: Extract<JobAnswer, { kind: 'upgraded' }>,
): void {
  const encodedHead = Buffer.from(JSON.stringify(head)).toString('base64url')
  front.write(
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\n' +
      `upgrade: ${attemptProtocol}\r\n${headers.head}: ${encodedHead}\r\n\r\n`,
  )
  if (first.length > 0) program.write(first)
  let linger: NodeJS.Timeout | undefined
  // `pipe` forwards a regular end; these handlers are for connections that break.
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
