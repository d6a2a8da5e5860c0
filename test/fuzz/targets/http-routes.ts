/** Bytes on the public port in front of an existing server: what its program would receive. */

import { checkConfig } from '../../../src/config/check.ts'
import { servingOf } from '../../../src/live/serving.ts'
import type { HttpRequest } from '../../../src/wire/messages.ts'
import { pairsOf, valuesOf } from '../../../src/wire/raw-headers.ts'
import { fakeWorker } from '../fake-worker.ts'
import { answersOf, httpTarget, httpWorld } from '../http-world.ts'
import { holds, type Target } from '../target.ts'

const config = {
  upstreams: ['http://127.0.0.1:9'],
  routes: [
    { name: 'strict', path: '/strict/:id', methods: ['GET'], features: { id: 'path.id', n: 'query.n' } },
    { name: 'posted', path: '/echo', features: { n: 'json.n', bytes: 'body.bytes', x: 'header.x-a' } },
    { name: 'files', path: '/files/**' },
    { name: 'rest', path: '/**' },
  ],
}

export const httpRoutes: Target = {
  name: 'http-routes',
  about: 'requests to an existing server, over a socket',
  ...httpTarget,
  async open() {
    const { own } = checkConfig(config, '/')
    const wrong: unknown[] = []
    const worker = await fakeWorker((request) => {
      try {
        checkForwarded(request)
      } catch (error) {
        wrong.push(error)
      }
    })
    const world = await httpWorld(await servingOf({ files: [], own: own! }), worker.submit)
    return {
      async run(input) {
        const text = await world.exchange(input)
        const [first] = wrong.splice(0)
        if (first !== undefined) throw first
        return answersOf(text)
      },
      async close() {
        await world.close()
        worker.close()
      },
    }
  },
}

/** A program must not read the request differently from the front: no second request may hide in it. */
function checkForwarded({ method, target, headers }: HttpRequest): void {
  holds(/^[A-Z-]+$/.test(method), `method ${JSON.stringify(method)}`)
  holds(!/[\0-\x20\x7f]/.test(target), `target ${JSON.stringify(target)}`)
  holds(target === '*' || target.startsWith('/'), `target ${JSON.stringify(target)}`)
  holds(headers.length % 2 === 0, 'a name without a value')
  holds(valuesOf(headers, 'host').length <= 1, 'two Host headers')
  const lengths = valuesOf(headers, 'content-length')
  holds(lengths.length <= 1 && lengths.every((each) => /^\d+$/.test(each)), `lengths ${lengths}`)
  holds(valuesOf(headers, 'transfer-encoding').length === 0, 'a transfer encoding passed on')
  for (const [name, value] of pairsOf(headers)) {
    holds(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name), `name ${JSON.stringify(name)}`)
    holds(!/[\r\n\0]/.test(value), `value of ${name}: ${JSON.stringify(value)}`)
  }
}
