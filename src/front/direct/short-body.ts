/** Reads the short body of a request, and leaves it there: the general path reads it as if nothing had happened. */

import type { IncomingMessage } from 'node:http'

/** A body that takes longer is read by the general path, with its limits for slow clients. */
const longestMs = 100

/** `then` gets the body, or undefined if it does not arrive soon. */
export function readShortBody(request: IncomingMessage, then: (body: Buffer | undefined) => void): void {
  const length = Number(request.headers['content-length'])
  const chunks: Buffer[] = []
  let bytes = 0
  const end = (isWhole: boolean) => {
    clearTimeout(timer)
    request.off('readable', read).off('close', close)
    const body = Buffer.concat(chunks)
    // Before the end of the request is announced, which is not possible any more then.
    if (bytes > 0) request.unshift(body)
    then(isWhole ? body : undefined)
  }
  const read = () => {
    for (let chunk = take(request); chunk; chunk = take(request)) {
      chunks.push(chunk)
      bytes += chunk.length
    }
    if (bytes === length && request.complete) end(request.rawTrailers.length === 0)
    // A request with a high water mark of 0 does not go on by itself.
    else if (!request.complete) request.read(0)
  }
  const close = () => end(false)
  const timer = setTimeout(end, longestMs, false)
  // Of an empty body nothing but its end arrives, and the end must not be read.
  if (length === 0) return void setImmediate(() => end(request.complete))
  request.on('readable', read).on('close', close)
}

/** Reading an empty request would announce its end. */
function take(request: IncomingMessage): Buffer | null {
  return request.readableLength > 0 ? (request.read() as Buffer | null) : null
}
