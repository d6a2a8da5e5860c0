/** An HTTP client that costs as little as Node allows: it reads only the status and the length of answers. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const receiveBytes = 1024 * 1024

/** A kept-alive connection, on which one request at a time is sent. */
export class KeptConnection {
  readonly #socket: Socket
  #receive: (chunk: Buffer) => void = () => {}
  #fail: (error: Error) => void = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the connection was closed')))
  }

  static async open(url: string): Promise<KeptConnection> {
    const { hostname, port } = new URL(url)
    const buffer = Buffer.allocUnsafe(receiveBytes)
    let kept: KeptConnection | undefined
    const socket = connect({
      host: hostname,
      port: Number(port),
      onread: {
        buffer,
        callback: (bytes) => {
          if (kept) kept.#receive(buffer.subarray(0, bytes))
          return true
        },
      },
    })
    await once(socket, 'connect')
    socket.setNoDelay(true)
    kept = new KeptConnection(socket)
    return kept
  }

  /** Resolves to the number of bytes of the body when the whole answer has arrived. */
  async get(path: string): Promise<number> {
    return this.#exchange(() => {
      this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\nAccept: */*\r\n\r\n`)
    })
  }

  async put(path: string, bytes: number): Promise<number> {
    return this.#exchange(() => {
      this.#socket.write(`PUT ${path} HTTP/1.1\r\nHost: bench\r\nContent-Length: ${bytes}\r\n\r\n`)
      const chunk = Buffer.alloc(256 * 1024, 'c')
      let left = bytes
      const send = () => {
        while (left > 0) {
          const part = left < chunk.length ? chunk.subarray(0, left) : chunk
          left -= part.length
          if (!this.#socket.write(part)) return void this.#socket.once('drain', send)
        }
      }
      send()
    })
  }

  close(): void {
    this.#fail = () => {}
    this.#socket.destroy()
  }

  #exchange(send: () => void): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#fail = reject
      let head = ''
      let length = -1
      let received = 0
      this.#receive = (chunk) => {
        let body = chunk.length
        if (length < 0) {
          head += chunk.toString('latin1')
          const end = head.indexOf('\r\n\r\n')
          if (end < 0) return
          body = head.length - end - 4
          length = lengthIn(head.slice(0, end))
          if (!(length >= 0)) return reject(new Error(`an answer without a length or not 200:\n${head}`))
        }
        received += body
        if (received >= length) resolve(received)
      }
      send()
    })
  }
}

/** NaN if the answer is not a 200 with a length. */
function lengthIn(head: string): number {
  if (!head.startsWith('HTTP/1.1 200 ')) return Number.NaN
  return Number(/^content-length: *(\d+)/im.exec(head)?.[1])
}
