/** @fastify/http-proxy. Arguments: folder with the packages, own port, upstream's port. */
import { createRequire } from 'node:module'

const [folder, port, upstreamPort] = process.argv.slice(2)
const require = createRequire(`${folder}/`)
const server = require('fastify')({ logger: false })
server.register(require('@fastify/http-proxy'), {
  upstream: `http://127.0.0.1:${upstreamPort}`,
  undici: { connections: 128, pipelining: 1 },
})
await server.listen({ host: '127.0.0.1', port: Number(port) })
