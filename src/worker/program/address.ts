/** The address of a program or upstream: a port of this machine, a Unix socket, or a URL. */
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { OpenPrograms, ProgramAddress } from '../../wire/programs.ts'
import { fillPlaceholders, placeholderIn } from './command.ts'

export interface Address {
  connect: { host: string; port: number } | { socketPath: string }
  tls: boolean
  /** Value of the Host header if the client sent none. */
  authority: string
  /** For messages, for instance "port 12345". */
  where: string
}

/** A program may listen on either address; which one is known when it does. */
const loopbacks = ['127.0.0.1', '::1'] as const

function portAddress(port: number, host: string = loopbacks[0]): Address {
  return { connect: { host, port }, tls: false, authority: `localhost:${port}`, where: `port ${port}` }
}

function socketAddress(path: string): Address {
  return { connect: { socketPath: path }, tls: false, authority: 'localhost', where: `socket ${path}` }
}

/** The healthy ones of these programs, unless each takes one request at a time. */
export function openPrograms(
  programs: Iterable<{ healthy: boolean; address: Address }>,
  concurrency: number,
): OpenPrograms | undefined {
  if (concurrency === 1) return undefined
  const healthy = [...programs].filter((program) => program.healthy)
  return { addresses: healthy.map(({ address }) => programAddress(address)), concurrency }
}

/** For fronts. */
export function programAddress({ connect }: Address): ProgramAddress {
  return 'port' in connect ? connect : { path: connect.socketPath }
}

/** The same port on the other loopback address; undefined for a Unix socket. */
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

/** A currently free port. If another process takes it before the program does, the next try uses another port. */
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

/** Assigns an address to the program of a slot, and inserts it into its command. */
export async function assignAddress(
  command: readonly string[],
  id: number,
  socketDir: string | undefined,
): Promise<{ address: Address; command: string[] }> {
  if (placeholderIn(command) !== 'socket') {
    const port = await freePort()
    return { address: portAddress(port), command: fillPlaceholders(command, { port }) }
  }
  const socket = join(socketDir!, `${id}.sock`)
  // A killed program leaves its socket behind, on which the next one could not listen.
  rmSync(socket, { force: true })
  return { address: socketAddress(socket), command: fillPlaceholders(command, { socket }) }
}
