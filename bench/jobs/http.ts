/** The whole way of a request that is kept: HTTP, front, quote, keeper, store, 202. The jobs then wait. */
import { Pool } from 'undici'
import { startUp } from '../../test/support/hostile/up.ts'
import { body } from './payload.ts'
import type { System } from './systems.ts'

/** One job runs and does not end, so that the others wait and only their acceptance is measured. */
const path = '/nap?ms=60000'
const flags = ['--queue', '2', '--min', '1', '--max', '1', '--fronts', '1', '--stop-after', '0']

export async function startHttp(
  name: 'sqlite-http' | 'postgres-http',
  callers: number,
  store?: string,
): Promise<System> {
  const up = await startUp({ flags: [...flags, ...(store === undefined ? [] : ['--store', store])] })
  const pool = new Pool(up.url, { connections: callers, pipelining: 1 })
  let accepted = 0
  const send = async (path: string) => {
    const { statusCode, body: answer } = await pool.request({
      ...{ path, method: 'POST', body },
      headers: { prefer: 'respond-async', 'content-type': 'application/octet-stream' },
    })
    const text = await answer.text()
    if (statusCode !== 202) throw new Error(`${statusCode} ${text}`)
    accepted++
  }
  return {
    name,
    accept: () => send(path),
    count: async () => accepted,
    async stop() {
      await pool.destroy()
      await up.stop()
    },
  }
}
