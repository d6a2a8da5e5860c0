/** The request body inside a slot: chunks arrive as fast as the job reads them. */
import type { RequestBody } from '../../workload/workload.ts'

export class SlotBody implements RequestBody {
  #chunks: Uint8Array[] = []
  #state: 'open' | 'complete' | Error
  #wake: (() => void) | undefined
  #taken = false
  readonly #grant: (bytes: number) => void

  /** `grant` allows the pool to send this many more bytes. */
  constructor(hasBody: boolean, grant: (bytes: number) => void) {
    this.#state = hasBody ? 'open' : 'complete'
    this.#grant = grant
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#wake?.()
  }

  end(error?: string): void {
    this.#state = error === undefined ? 'complete' : new Error(`the request body failed: ${error}`)
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.#taken) throw new Error('the request body can be read only once')
    this.#taken = true
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk) {
        yield chunk
        this.#grant(chunk.length)
      } else if (this.#state === 'open') {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      } else if (this.#state === 'complete') {
        return
      } else {
        throw this.#state
      }
    }
  }

  async bytes(): Promise<Uint8Array> {
    const chunks: Uint8Array[] = []
    for await (const chunk of this) chunks.push(chunk)
    return Buffer.concat(chunks)
  }
}
