/** A server for tests whose requests take the direct path to programs if they can. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { checkConfig } from '../../../config/check.ts'
import type { DirectOrder, DirectReport } from '../../../wire/direct.ts'
import { AnswerStore } from '../../answer-buffer.ts'
import { frontDefaults } from '../../front.ts'
import type { RequestHead } from '../../request/request-head.ts'
import { routeQuestioner } from '../../request/route-question.ts'
import { RouteTable } from '../../request/route-table.ts'
import { directFirst } from '../direct-first.ts'
import { type DirectExchange, DirectRequest } from '../direct-request.ts'
import { ProgramRequests } from '../program-requests.ts'
import { DirectReports } from '../report.ts'
import { ResponseExchange } from '../response-exchange.ts'
import type { FakeProgram } from './fake-program.ts'

const usual = [
  { name: 'a', path: '/a/**' },
  { name: 'b', path: '/**' },
]

/** The general path answers with the word `general`, the URL and the body of the request, and the number of its listeners. */
export async function directly(t: TestContext, given: readonly object[] = usual) {
  const config = { workers: { command: 'program {port}' }, routes: given }
  const { routes } = checkConfig(config, import.meta.dirname).own!
  const sent: DirectReport[] = []
  // Counts are collected until the test wants them.
  let isUp = false
  const lines: string[] = []
  const log = (line: string) => void lines.push(line)
  const reports = new DirectReports({ isUp: () => isUp, send: (report) => void sent.push(report) })
  const question = routeQuestioner({ codeOf: () => 'code', log })
  const limits = { longestBody: 65_536, holdMs: 50 }
  const parts = { table: new RouteTable(routes), question, reports, isTrusted: () => false, ...limits, log }
  const requests = new ProgramRequests(parts)
  const answers = new AnswerStore(frontDefaults)
  let [entered, left] = [0, 0]
  const general = async (request: IncomingMessage, response: ServerResponse) => {
    const listeners = response.listenerCount('close')
    const body = (await request.toArray()).join('')
    response.end(`general ${request.url} ${body === '' ? '' : `${body} `}${listeners}`)
  }
  const direct = {
    isOpen: true,
    longestBody: limits.longestBody,
    take: (request: RequestHead, exchange: DirectExchange) =>
      requests.take(request, () => {
        entered++
        return new DirectRequest(request, exchange, { leave: () => void left++, log })
      }),
  }
  const exchangeOf = (request: IncomingMessage, response: ServerResponse) =>
    new ResponseExchange(request, response, { limits: frontDefaults, answers, general })
  const server = createServer(directFirst({ direct, exchangeOf, general }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  t.after(() => {
    requests.close()
    reports.close()
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${port}`
  return {
    ...{ requests, port, server, lines },
    ask: (path: string, method: string, body?: string) =>
      fetch(url + path, { method, ...(body !== undefined && { body }) }),
    get: async (path: string) => (await fetch(url + path)).text(),
    counts: () => ({ entered, left }),
    report() {
      isUp = true
      reports.flush()
      return sent.at(-1)
    },
  }
}

export const order = (names: string[], ...programs: Pick<FakeProgram, 'address'>[]): DirectOrder => ({
  seq: 1,
  names,
  workers: programs.map(({ address }, i) => ({
    id: `w${i + 1}`,
    programs: { addresses: [address], concurrency: 2 },
  })),
})
