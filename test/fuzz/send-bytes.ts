/** Sends bytes to a port and reads until the connection is closed. */

import { connect } from 'node:net'
import { Violation } from './target.ts'

/** A connection that nothing closes is reported after this time. */
const patienceMs = 20_000

/** Closes the sending side after the bytes, unless the client `waits` for the answer. */
export function sendTo(port: number, bytes: Buffer, waits = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const chunks: Buffer[] = []
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new Violation(`the connection is open after ${patienceMs / 1000} s`))
    }, patienceMs)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    // A reset is one way to end an incomplete request.
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(Buffer.concat(chunks).toString('latin1'))
    })
    if (waits) socket.write(bytes)
    else socket.end(bytes)
  })
}
