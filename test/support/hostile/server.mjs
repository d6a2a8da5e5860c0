/** An existing server for the hostile suite: records every request that it receives, and accepts WebSockets. */

import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [, , port, seen, tally] = process.argv

const server = createServer(async (request, response) => {
  const { method, url = '', rawHeaders } = request
  appendFileSync(seen, `${JSON.stringify({ method, url, rawHeaders })}\n`)
  const { pathname, searchParams } = new URL(url, 'http://x')
  let bytes = 0
  for await (const chunk of request) bytes += chunk.length
  if (pathname === '/double') return response.end(`${2 * Number(searchParams.get('n'))}`)
  if (pathname === '/sink') return response.end(`${bytes}`)
  if (pathname === '/tally') {
    appendFileSync(tally, `${searchParams.get('id')}\n`)
    return response.end(searchParams.get('id'))
  }
  if (pathname === '/spin') {
    const ends = process.cpuUsage().user + 1000 * Number(searchParams.get('ms'))
    while (process.cpuUsage().user < ends);
  }
  if (pathname === '/nap') await new Promise((resolve) => setTimeout(resolve, Number(searchParams.get('ms'))))
  response.end('fine')
})
server.on('upgrade', (_request, socket) => {
  socket.on('error', () => socket.destroy())
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n')
  socket.on('data', (bytes) => socket.write(bytes))
})
server.listen(Number(port), '127.0.0.1')
