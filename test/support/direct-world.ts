/** A worker with slots, and both ways to it: a direct link, and the general path that all other jobs take. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type DirectAnswer, directCost, wholeAnswer } from '../../src/front/direct/direct-answer.ts'
import { WorkerLink } from '../../src/front/direct/worker-link.ts'
import type { Receiver } from '../../src/front/receiver.ts'
import type { Body } from '../../src/front/request/body.ts'
import type { AttemptEnd, Carried, Upstream } from '../../src/front/transports/transport.ts'
import { upstreamAt } from '../../src/front/transports/upstream.ts'
import { WorkloadTransport } from '../../src/front/transports/workload.ts'
import { defaultMeter } from '../../src/meter/hooks.ts'
import { disciplines } from '../../src/model/discipline.ts'
import { type MeterSetting, type Quantity, quantitiesIn } from '../../src/model/metering.ts'
import type { Address } from '../../src/wire/front-messages.ts'
import type { WholeAnswer } from '../../src/wire/whole-answer.ts'
import { attemptPort } from '../../src/worker/attempts/attempt-port.ts'
import { attemptServer } from '../../src/worker/attempts/attempt-server.ts'
import { DirectDoor } from '../../src/worker/direct/direct-door.ts'
import type { SmallJobLimits } from '../../src/worker/direct/small-slot.ts'
import { nominalRate } from '../../src/worker/rates.ts'
import { SlotPool } from '../../src/worker/slots/slot-pool.ts'
import { Supervisor } from '../../src/worker/supervisor.ts'

export const token = 'secret'

/** On a slow machine jobs take long; tests of the limits set them. */
const patient: SmallJobLimits = { slowMs: 60_000, firstMs: 60_000, waitMs: 60_000, idleMs: 60_000 }

export interface DirectWorldOptions {
  files: string[]
  cores?: number
  meter?: MeterSetting
  limits?: Partial<SmallJobLimits>
  /** True: as a worker of another machine. */
  tls?: boolean
}

/** What a client would get, or how the job failed. */
export interface Outcome {
  answer: WholeAnswer | undefined
  end: Record<string, unknown>
  work: number
}

export interface DirectWorld {
  pool: SlotPool
  door: DirectDoor
  address: Address
  lines: string[]
  link: WorkerLink
  newLink(options?: { token?: string }): WorkerLink
  call(workload: string, params?: string, job?: string): Promise<DirectAnswer>
  /** Both take the text of the parameters. */
  direct(workload: string, params: string): Promise<Outcome>
  general(workload: string, params: string): Promise<Outcome>
}

export async function useDirectWorld(t: TestContext, options: DirectWorldOptions): Promise<DirectWorld> {
  const { files, cores = 1, meter = defaultMeter, limits, tls = false } = options
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-direct-'))
  const lines: string[] = []
  const log = (line: string) => lines.push(line)
  const pool = new SlotPool({ files, dataDir, warm: 1, memoryMb: 256, meter, log })
  const workPerMs = meter === 'off' ? nominalRate(meter) : undefined
  const door = new DirectDoor({ pool, cores, memoryMb: 256, workPerMs, limits: { ...patient, ...limits } })
  const supervisor = new Supervisor({ pool, cores, slots: 8, meter, send() {} }, disciplines.srpt)
  const server = attemptServer(supervisor, token, Promise.resolve(), { direct: door })
  const port = attemptPort(server, '127.0.0.1', token, tls)
  await port.open()
  const address = port.address()
  const links: WorkerLink[] = []
  const newLink = (given: { token?: string } = {}) => {
    const link = new WorkerLink({ id: 'w', address, token, log, ...given })
    links.push(link)
    return link
  }
  const upstream = upstreamAt('w', address, token)
  t.after(async () => {
    for (const link of links) link.close()
    upstream.close()
    door.close()
    port.close()
    await pool.close()
    rmSync(dataDir, { recursive: true })
  })
  await pool.ready()
  const link = newLink()
  const call = (workload: string, params = '{}', job = 'job') =>
    new Promise<DirectAnswer>((resolve) => void link.call({ workload, params, job }, resolve))
  const quantities = quantitiesIn(meter)

  async function direct(workload: string, params: string): Promise<Outcome> {
    const got = await call(workload, params)
    if (got.outcome === 'given-back') return { answer: undefined, end: got, work: 0 }
    const { work } = directCost(got, quantities)
    if (got.outcome === 'result') {
      return { answer: wholeAnswer(got, quantities), end: { outcome: 'result' }, work }
    }
    const { outcome, message, status } = got
    return { answer: undefined, end: { outcome, message, status }, work }
  }

  const general = generalPath(upstream, quantities)
  return { pool, door, address, lines, link, newLink, call, direct, general }
}

/** Sends jobs as a front does that has asked the brain. */
function generalPath(upstream: Upstream, quantities: readonly Quantity[]): DirectWorld['general'] {
  let attempts = 0
  return async (workload, params) => {
    let answer: WholeAnswer | undefined
    const receiver = {
      ...{ mayHold: () => true, takesStreams: false, attempted() {} },
      deliver: (whole: WholeAnswer) => {
        answer = whole
      },
    } as unknown as Receiver
    const source = { bytes: 0 } as Body
    const text = { start: Buffer.from(params), source }
    const transport = new WorkloadTransport({ params: text, body: undefined, receiver, quantities })
    const order = { epoch: 1, job: 'job', attempt: 1, workload, work: 1, preemptible: true, ask: false }
    const end = (await transport.carry({
      ...{ upstream, token, order: { ...order, epoch: ++attempts } },
      ...{ signal: new AbortController().signal, isCurrent: () => true },
      ...{ answering() {}, account: () => ({}) },
    } as Carried)) as AttemptEnd
    if (end.outcome === 'result') transport.deliver({})
    const { cost, outcome } = end
    const failure = end.outcome === 'result' ? {} : { message: end.message, status: end.status }
    return { answer, end: { outcome, ...failure }, work: cost!.work }
  }
}
