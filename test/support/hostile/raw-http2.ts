/** HTTP/2 frame by frame, for clients that break its rules or their own word. */

import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'

export const frameType = {
  ...{ data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, windowUpdate: 8, continuation: 9 },
} as const
export const endStream = 1
export const endHeaders = 4

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const batchBytes = 64 * 1024

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** An integer of four bytes, as resets and window updates have. */
export function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Settings by their numbers. */
export function settings(values: Record<number, number> = {}): Buffer {
  const entries = Object.entries(values).map(([id, value]) => {
    const bytes = Buffer.alloc(6)
    bytes.writeUInt16BE(Number(id))
    bytes.writeUInt32BE(value, 2)
    return bytes
  })
  return frame(frameType.settings, 0, 0, Buffer.concat(entries))
}

/** A header as a literal; `indexed`: the receiver is to remember it as number 62. */
export function literal(name: string, value: string, indexed = false): Buffer {
  return Buffer.concat([Buffer.of(indexed ? 0x40 : 0), text(name), text(value)])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  const { length } = bytes
  if (length < 127) return Buffer.concat([Buffer.of(length), bytes])
  const rest: number[] = [127]
  let left = length - 127
  for (; left >= 128; left >>= 7) rest.push((left & 127) | 128)
  return Buffer.concat([Buffer.of(...rest, left), bytes])
}

export function requestHead(method: string, path: string): Buffer {
  const pseudo = { ':method': method, ':scheme': 'https', ':path': path, ':authority': 'localhost' }
  return Buffer.concat(Object.entries(pseudo).map(([name, value]) => literal(name, value)))
}

export class RawHttp2 {
  readonly socket: TLSSocket
  #received = 0

  private constructor(socket: TLSSocket) {
    this.socket = socket
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => {
      this.#received += bytes.length
    })
  }

  static async open(port: number, initial = settings()): Promise<RawHttp2> {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
    const client = new RawHttp2(socket)
    await once(socket, 'secureConnect')
    socket.write(Buffer.concat([preface, initial]))
    return client
  }

  /** Everything that came back. */
  get received(): number {
    return this.#received
  }

  /** Writes these frames, one batch after the other. Resolves with false if the server closes the connection. */
  async flood(count: number, frames: (i: number) => Buffer): Promise<boolean> {
    const closed = new Promise((resolve) => this.socket.once('close', resolve))
    let batch: Buffer[] = []
    let bytes = 0
    for (let i = 0; i < count && this.socket.writable; i++) {
      const next = frames(i)
      batch.push(next)
      bytes += next.length
      if (bytes < batchBytes && i < count - 1) continue
      const wrote = this.socket.write(Buffer.concat(batch))
      batch = []
      bytes = 0
      if (!wrote && this.socket.writable) {
        const drained = new Promise((resolve) => this.socket.once('drain', resolve))
        await Promise.race([drained, closed])
      }
    }
    return this.socket.writable
  }
}
