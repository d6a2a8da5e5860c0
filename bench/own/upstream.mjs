/**
 * An existing server that costs as little as Node allows, so that what is in front of it can be seen. `--port N`
 *
 * GET /small         answers with 100 bytes
 * GET /page          the same after 1.5 ms of computing, as small applications in Flask or Express do
 * GET /large?bytes=N answers with N bytes
 * PUT /upload        answers with the number of bytes received
 */
import { createServer } from 'node:http'

const small = Buffer.alloc(100, 'a')
const chunk = Buffer.alloc(256 * 1024, 'b')

const pageMs = 1.5

function compute(ms) {
  const until = performance.now() + ms
  while (performance.now() < until);
}

createServer((request, response) => {
  if (request.method === 'PUT') return receive(request, response)
  if (request.url === '/page') compute(pageMs)
  const bytes = Number(/^\/large\?bytes=(\d+)$/.exec(request.url)?.[1] ?? 0)
  if (bytes === 0) return response.writeHead(200, { 'content-length': small.length }).end(small)
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes })
  let left = bytes
  const send = () => {
    while (left > 0) {
      const part = left < chunk.length ? chunk.subarray(0, left) : chunk
      left -= part.length
      if (!response.write(part)) return response.once('drain', send)
    }
    response.end()
  }
  send()
}).listen(Number(process.argv[process.argv.indexOf('--port') + 1]), '127.0.0.1')

function receive(request, response) {
  let bytes = 0
  request.on('data', (part) => {
    bytes += part.length
  })
  request.on('end', () => response.end(`${bytes}`))
}
