/**
 * An existing server for the hostile suite: records every request that it receives completely, and accepts WebSockets. With a folder for bytes it
 * also records those of each connection.
 */

import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

const [, , port, seen, tally, bytesFolder] = process.argv

const server = createServer(async (request, response) => {
  const { method, url = '', rawHeaders } = request
  const { pathname, searchParams } = new URL(url, 'http://x')
  let bytes = 0
  try {
    for await (const chunk of request) bytes += chunk.length
  } catch {
    // It was broken off.
    return
  }
  appendFileSync(seen, `${JSON.stringify({ method, url, rawHeaders })}\n`)
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
server.on('upgrade', ({ method, url, rawHeaders }, socket) => {
  appendFileSync(seen, `${JSON.stringify({ method, url, rawHeaders })}\n`)
  socket.on('error', () => socket.destroy())
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n')
  socket.on('data', (bytes) => socket.write(bytes))
})
let connections = 0
if (bytesFolder)
  server.on('connection', (socket) => {
    const file = join(bytesFolder, `${process.pid}-${connections++}`)
    socket.on('data', (bytes) => appendFileSync(file, bytes))
  })
server.listen(Number(port), '127.0.0.1')
