/** Opens the store that a configuration names. */
import { ConfigError } from '../lib/errors.ts'
import { openPostgresJobs } from './postgres.ts'
import { openSqliteJobs } from './sqlite.ts'
import type { JobStore } from './store.ts'

export const defaultFolder = '.plimsoll/jobs'

/** `location`: a folder, which is created if missing, or the URL of a PostgreSQL database. */
export async function openJobStore(location: string = defaultFolder): Promise<JobStore> {
  if (/^postgres(ql)?:\/\//i.test(location)) return openPostgresJobs({ url: location })
  if (location === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(location)) {
    throw new ConfigError(
      `store = ${withoutPassword(location)}: must be the path of a folder, or begin with postgres://`,
    )
  }
  return openSqliteJobs({ folder: location })
}

function withoutPassword(location: string): string {
  return location.replace(/^([^:]+:\/\/)[^/]*@/, '$1…@')
}
