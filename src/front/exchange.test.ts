import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { Event } from '../model/event.ts'
import { Exchange, type ExchangeParts } from './exchange.ts'
import type { RequestProblem } from './problem.ts'
import type { Transport, Upstream } from './transports/transport.ts'

const token = { epoch: 1, job: 'j', attempt: 1 }
const upstream = { id: 'w' } as Upstream

/** An exchange over this transport, and what it told. */
function exchangeOver(
  transport: Partial<Transport>,
  refuse: (problem: RequestProblem, account: Record<string, string>) => void = () => {},
) {
  const [lines, events, problems, ends]: [string[], Event[], RequestProblem[], string[]] = [[], [], [], []]
  const exchange = new Exchange({
    job: { id: 'j', workload: 'x', work: 1, memoryMb: 1 },
    transport: { asked: { params: {} }, begun: false, ...transport } as Transport,
    receiver: {
      onGone() {},
      refuse(problem: RequestProblem, account: Record<string, string>) {
        refuse(problem, account)
        problems.push(problem)
      },
      breakOff: () => ends.push('broken off'),
    },
    token: 't',
    estimateMs: 0,
    exposeErrors: false,
    tell: (event: Event) => events.push(event),
    log: (line: string) => lines.push(line),
    ended: () => ends.push('ended'),
  } as unknown as ExchangeParts)
  return { exchange, lines, events, problems, ends }
}

const carries = (error: Error) => ({ carry: () => Promise.reject(error) })

test('an attempt that cannot be serialized fails for good, without blame for its worker', async () => {
  const { exchange, lines, events } = exchangeOver(
    carries(new RangeError('Maximum call stack size exceeded')),
  )
  await exchange.run(token, upstream)
  const message = 'the attempt could not be sent: Maximum call stack size exceeded'
  const failed = { type: 'failed', ...token, worker: 'w', kind: 'error', message, blameless: true }
  assert.deepEqual(events, [failed])
  assert.match(lines[0]!, /^job j: attempt 1 could not be completed on w: RangeError: Maximum call stack/)
})

test('only errors that the workload does not blame on the request count against its worker', async () => {
  for (const [status, blameless] of [
    [422, true],
    [500, undefined],
  ] as const) {
    const carry = async () => ({ outcome: 'error', message: 'no', status }) as const
    const { exchange, events } = exchangeOver({ carry })
    await exchange.run(token, upstream)
    assert.deepEqual(
      events.map((event) => event.type === 'failed' && event.blameless),
      [blameless],
    )
  }
})

test('an attempt whose worker cannot be reached is logged and fails as unreachable', async () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  const { exchange, lines, events } = exchangeOver(carries(refused))
  await exchange.run(token, upstream)
  const failed = { type: 'failed', ...token, worker: 'w', kind: 'unreachable', message: 'ECONNREFUSED' }
  assert.deepEqual(events, [failed])
  assert.deepEqual(lines, ['job j: attempt 1 could not be completed on w: ECONNREFUSED'])
})

const answer = { type: 'answer', job: 'j', outcome: 'result', reason: { code: 'finished' } } as const
const badHeader = {
  deliver() {
    throw new TypeError('Invalid character in header content ["x-name"]')
  },
}

test('a result that cannot be sent is a problem for the client and a log line', () => {
  const { exchange, lines, problems, ends } = exchangeOver(badHeader)
  exchange.settle(answer)
  assert.deepEqual([problems[0]?.status, problems[0]?.code], [502, 'bad-answer'])
  assert.match(lines[0]!, /^job j: its answer could not be sent: TypeError: Invalid character/)
  assert.deepEqual(ends, ['ended'])
})

test('a client that cannot even be sent a problem is disconnected', () => {
  const { exchange, ends } = exchangeOver(badHeader, () => {
    throw new Error('no')
  })
  exchange.settle(answer)
  assert.deepEqual(ends, ['broken off', 'ended'])
})

test('an answer of the brain to a running attempt says how long that has run', async () => {
  const clock = mock.method(performance, 'now', () => 1000)
  try {
    let timing: string | undefined
    const carry = () => new Promise<never>(() => {})
    const { exchange } = exchangeOver({ carry }, (_, account) => {
      timing = account['server-timing']
    })
    void exchange.run(token, upstream)
    clock.mock.mockImplementation(() => 1250)
    exchange.settle({ type: 'answer', job: 'j', outcome: 'refused', reason: { code: 'deadline' } })
    assert.equal(timing, 'estimate;dur=0.000, queue;dur=0.000, run;dur=250.000')
  } finally {
    clock.mock.restore()
  }
})
