/** The whole way of a request that is kept: HTTP, front, quote, keeper, store, 202. The jobs then wait. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Pool } from 'undici'
import { startUp } from '../../test/support/hostile/up.ts'
import type { Postgres } from '../../test/support/postgres.ts'
import { body } from './payload.ts'
import type { System } from './systems.ts'

/** One job runs and does not end, so that the others wait and only their acceptance is measured. */
const path = '/nap?ms=3600000'
const flags = ['--queue', '2', '--min', '1', '--max', '1', '--fronts', '1', '--stop-after', '0']
const headers = { prefer: 'respond-async', 'content-type': 'application/octet-stream' }
const countJobs = 'SELECT count(*) AS count FROM'

/** `server`: its jobs are in a database there; otherwise in files. */
export async function startHttp(
  name: 'sqlite-http' | 'postgres-http',
  callers: number,
  server?: Postgres,
): Promise<System> {
  const url = await server?.createDatabase()
  const up = await startUp({ flags: [...flags, ...(url === undefined ? [] : ['--store', url])] })
  const pool = new Pool(up.url, { connections: callers, pipelining: 1 })
  const file = join(up.dataDir, 'jobs', 'jobs.db')
  return {
    name,
    async accept() {
      const { statusCode, body: answer } = await pool.request({ path, method: 'POST', body, headers })
      const text = await answer.text()
      if (statusCode !== 202) throw new Error(`${statusCode} ${text}`)
    },
    async count() {
      if (server)
        return Number((await server.query<{ count: string }>(`${countJobs} plimsoll.jobs`, url))[0]!.count)
      return existsSync(file) ? countIn(file) : 0
    },
    async stop() {
      await pool.destroy()
      await up.stop()
    },
  }
}

function countIn(file: string): number {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return Number(db.prepare(`${countJobs} jobs`).get()!.count)
  } finally {
    db.close()
  }
}
