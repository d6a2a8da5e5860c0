/** A cluster of an existing server for tests of the front: a program and a fake worker, both in the test's process. */

import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before } from 'node:test'
import { checkConfig, type OwnCluster } from '../../src/config/check.ts'
import { serverCode } from '../../src/config/code.ts'
import type { PlimsollConfig } from '../../src/config/config.ts'
import type { ClusterOptions } from '../../src/live/cluster.ts'
import { type FakeWorker, joinFake } from './fake-worker.ts'
import { type Live, startLive, stopLive } from './live.ts'

export interface OwnLive extends Live {
  fake: FakeWorker
  /** The URL of the program, without Plimsoll. */
  direct: string
  program: Server
  join(id: string): Promise<FakeWorker>
}

/** Longer than any test: short answers are held until they are complete, even on a slow machine. */
const holdMs = 2 ** 30

/** One cluster for all tests of a file. Its properties are set before the first test. */
export function useOwn(
  listener: RequestListener,
  config: Omit<PlimsollConfig, 'workers'> = {},
  options: Partial<ClusterOptions> = {},
): OwnLive {
  const program = createServer(listener)
  const own = { program } as OwnLive
  const fakes: FakeWorker[] = []
  const checked = checkConfig({ workers: { command: 'program {port}' }, ...config }, import.meta.dirname)
    .own as OwnCluster
  before(async () => {
    await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
    const { port } = program.address() as AddressInfo
    const frontLimits = { holdMs, ...options.frontLimits }
    const live = await startLive({ files: [], own: checked, min: 0, max: 10, ...options, frontLimits }, false)
    const join = async (id: string) => {
      const fake = await joinFake(live, { id, port, code: serverCode(checked.workers!) })
      fakes.push(fake)
      return fake
    }
    const fake = await join('fake')
    await live.ready
    Object.assign(own, live, { fake, join, direct: `http://127.0.0.1:${port}` })
  })
  after(async () => {
    await stopLive(own)
    await Promise.all(fakes.map((fake) => fake.close()))
    program.close()
    program.closeAllConnections()
  })
  return own
}
