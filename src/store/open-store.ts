/** Opens the store that a configuration names. */
import { ConfigError } from '../lib/errors.ts'
import { checkDatabase } from './postgres/database.ts'
import { openPostgresJobs } from './postgres.ts'
import { openSqliteJobs } from './sqlite.ts'
import type { JobStore } from './store.ts'

export const defaultFolder = '.plimsoll/jobs'

const database = /^postgres(ql)?:\/\//i

/** True: several clusters may use it, one of which leads. */
export function isShared(location: string): boolean {
  return database.test(location)
}

/** Throws ConfigError if the location names no store, or one that requires what is not installed. */
export function checkJobStore(location: string): void {
  if (isShared(location)) return checkDatabase(location)
  if (location === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(location))
    throw new ConfigError(
      `store = ${withoutPassword(location)}: must be the path of a folder, or begin with postgres://`,
    )
}

/** `location`: a folder, which is created if missing, or the URL of a PostgreSQL database. */
export async function openJobStore(location: string = defaultFolder): Promise<JobStore> {
  checkJobStore(location)
  return isShared(location) ? openPostgresJobs({ url: location }) : openSqliteJobs({ folder: location })
}

function withoutPassword(location: string): string {
  return location.replace(/^([^:]+:\/\/).*@/, '$1…@')
}
