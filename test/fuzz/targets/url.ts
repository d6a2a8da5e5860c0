/** Targets of requests: parsing, normalization and routes. */

import type { IncomingMessage } from 'node:http'
import { checkRoutes } from '../../../src/config/check-routes.ts'
import { RequestProblem } from '../../../src/front/problem.ts'
import { RouteTable } from '../../../src/front/request/route-table.ts'
import { type RequestUrl, readUrl, withoutPrefix } from '../../../src/front/request/url.ts'
import { pathOf } from '../http-grammar.ts'
import { errorsOf, holds, type Target } from '../target.ts'

const table = new RouteTable(
  checkRoutes([
    { name: 'one', path: '/echo' },
    { name: 'two', path: '/strict/:id' },
    { name: 'three', path: '/files/**' },
  ]),
)

export const url: Target = {
  name: 'url',
  about: 'URLs of requests and their routes',
  weight: 3,
  maxBytes: 4096,
  cpuMs: 1_000,
  words: [
    '/',
    '//',
    '..',
    '.',
    '%2e',
    '%2f',
    '%00',
    '%',
    '?',
    '#',
    '*',
    'http://',
    'https://[::1]',
    '@',
    '\\',
    ':80',
    '/-/estimate',
  ],
  generate: (random) => Buffer.from(pathOf(random)),
  declared: errorsOf(RequestProblem),
  open: () => ({
    run(input) {
      const read = readUrl({ url: input.toString('latin1') } as IncomingMessage)
      checkPaths(read)
      const path = routedPath(read)
      if (path.startsWith('/-/estimate/')) checkPaths(withoutPrefix(read, '/-/estimate'))
      return table.find('GET', path).route.name
    },
  }),
}

/** The path that routes match, and the one that a program receives, are the same and have no dot segments. */
function checkPaths(read: RequestUrl): void {
  const path = routedPath(read)
  holds(path.startsWith('/'), `path ${path}`)
  holds(!/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path), `dot segments in ${path}`)
  const received = read.text.split('?', 1)[0]!
  holds(received === '*' || received === path, `routes match ${path}, the program receives ${received}`)
}

function routedPath(read: { path?: string; url?: URL }): string {
  return read.path ?? read.url!.pathname
}
