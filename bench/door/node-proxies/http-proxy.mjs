/** http-proxy. Arguments: folder with the package, own port, upstream's port. */
import { Agent, createServer } from 'node:http'
import { createRequire } from 'node:module'

const [folder, port, upstreamPort] = process.argv.slice(2)
const proxy = createRequire(`${folder}/`)('http-proxy').createProxyServer({
  target: `http://127.0.0.1:${upstreamPort}`,
  agent: new Agent({ keepAlive: true, maxSockets: 256 }),
})
proxy.on('error', (_, __, response) => response.writeHead?.(502).end())
createServer((request, response) => proxy.web(request, response)).listen(Number(port), '127.0.0.1')
