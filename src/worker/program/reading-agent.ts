/**
 * Connections to programs whose bytes can bypass Node's HTTP client: once the head of a long answer has been parsed, the rest is
 * read into buffers that are used again.
 */
import { Agent, type ClientRequestArgs } from 'node:http'
import type { Socket, TcpNetConnectOpts } from 'node:net'
import type { Duplex } from 'node:stream'

/** Receives the bytes of a connection. */
export interface ByteReader {
  /** Where to read the next bytes to. */
  readonly place: Buffer
  /** False: nothing more is read until the socket is resumed. */
  read(data: Buffer): boolean
}

const readBytes = 64 * 1024

const receivers = new WeakMap<Socket, Receiver>()

export class ReadingAgent extends Agent {
  override createConnection(options: ClientRequestArgs): Duplex {
    const receiver = new Receiver()
    const socket = super.createConnection({ ...options, onread: receiver.onread } as ClientRequestArgs &
      Pick<TcpNetConnectOpts, 'onread'>) as Socket
    receiver.socket = socket
    receivers.set(socket, receiver)
    return socket
  }
}

/** From the next bytes on, what arrives goes to the reader. The connection cannot be used again. False: not possible. */
export function readFrom(socket: Socket, reader: ByteReader): boolean {
  const receiver = receivers.get(socket)
  if (receiver) receiver.reader = reader
  return receiver !== undefined
}

/** Shared by all connections: what is read is copied at once. */
const shared = Buffer.allocUnsafeSlow(readBytes)

class Receiver {
  socket: Socket | undefined
  reader: ByteReader | undefined
  #place: Buffer = shared
  readonly onread = {
    // Called before the first read and after each one.
    buffer: () => {
      this.#place = this.reader?.place ?? shared
      return this.#place
    },
    callback: (bytes: number): boolean => {
      const data = this.#place.subarray(0, bytes)
      // The buffer of this read was chosen before there was a reader.
      if (this.reader) return this.reader.read(this.#place === shared ? Buffer.from(data) : data)
      return this.socket!.push(Buffer.from(data))
    },
  }
}
