/** Where a program is reached: a port of this machine, a unix socket, or an upstream's address. */
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fillIn, placeIn } from './command.ts'

export interface Address {
  connect: { host: string; port: number } | { socketPath: string }
  tls: boolean
  /** For Host, where a client sent none. */
  authority: string
  /** In words, for instance "port 12345". */
  where: string
}

/** Programs listen here or there; which it is shows when they do. */
const loopbacks = ['127.0.0.1', '::1'] as const

function portAddress(port: number, host: string = loopbacks[0]): Address {
  return { connect: { host, port }, tls: false, authority: `localhost:${port}`, where: `port ${port}` }
}

function socketAddress(path: string): Address {
  return { connect: { socketPath: path }, tls: false, authority: 'localhost', where: `socket ${path}` }
}

/** The same port on the other loopback address; undefined of all but ports of this machine. */
export function otherLoopback({ connect }: Address): Address | undefined {
  if (!('port' in connect)) return undefined
  const other = loopbacks.find((host) => host !== connect.host)!
  return portAddress(connect.port, other)
}

export function urlAddress(url: URL): Address {
  const tls = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port)
  return { connect: { host, port }, tls, authority: url.host, where: url.origin }
}

/** A port that is free now: another may take it before the program does, and then the next try gets another. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, loopbacks[0], () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** Where the program of a slot is to listen, and the command that tells it so. */
export async function assignAddress(
  command: readonly string[],
  id: number,
  socketDir: string | undefined,
): Promise<{ address: Address; command: string[] }> {
  if (placeIn(command) !== 'socket') {
    const port = await freePort()
    return { address: portAddress(port), command: fillIn(command, { port }) }
  }
  const socket = join(socketDir!, `${id}.sock`)
  // A program that was killed leaves it behind, and the next could not listen there.
  rmSync(socket, { force: true })
  return { address: socketAddress(socket), command: fillIn(command, { socket }) }
}
