/** fast-proxy. Arguments: folder with the package, own port, upstream's port. */
import { createServer } from 'node:http'
import { createRequire } from 'node:module'

const [folder, port, upstreamPort] = process.argv.slice(2)
const fastProxy = createRequire(`${folder}/`)('fast-proxy')
const { proxy } = fastProxy({
  base: `http://127.0.0.1:${upstreamPort}`,
  undici: { connections: 128, pipelining: 1 },
})
createServer((request, response) => proxy(request, response, request.url, {})).listen(
  Number(port),
  '127.0.0.1',
)
