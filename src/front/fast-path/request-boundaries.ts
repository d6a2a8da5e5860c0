/** Follows where requests begin in the bytes that Node's server reads from a connection. */

import { longestHead, type PlainFields, readPlainHead } from './plain-head.ts'

const headEnd = Buffer.from('\r\n\r\n')

export class RequestBoundaries {
  /** Requests that have begun. */
  count = 0
  /** The beginning of a head. */
  #partial: Buffer | undefined
  /** Bytes left of the current body. */
  #left = 0
  #fields: PlainFields | undefined

  /** True: the next byte begins a request. */
  get isBetween(): boolean {
    return this.#left === 0 && this.#partial === undefined
  }

  /** False: only Node knows how these bytes are to be read, and where the next request begins. */
  read(chunk: Buffer): boolean {
    let rest = chunk
    if (this.#partial) {
      rest = Buffer.concat([this.#partial, chunk])
      this.#partial = undefined
    }
    while (rest.length > 0) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, rest.length)
        this.#left -= taken
        rest = rest.subarray(taken)
        continue
      }
      const end = rest.indexOf(headEnd)
      if (end > longestHead || (end < 0 && rest.length > longestHead)) return false
      if (end < 0) {
        this.#partial = Buffer.from(rest)
        return true
      }
      const head = readPlainHead(rest.toString('latin1', 0, end), this.#fields)
      if (!head) return false
      this.count++
      this.#fields = head.fields
      this.#left = head.fields.length ?? 0
      rest = rest.subarray(end + headEnd.length)
    }
    return true
  }
}
