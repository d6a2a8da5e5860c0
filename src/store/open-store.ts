/** Opens the store that a configuration names. */
import { checkDynamo } from '../aws/dynamo/dynamo.ts'
import { isDynamo, parseDynamo } from '../aws/dynamo/location.ts'
import { ConfigError } from '../lib/errors.ts'
import { openDynamoJobs } from './dynamodb.ts'
import { checkDatabase } from './postgres/database.ts'
import { openPostgresJobs } from './postgres.ts'
import { openSqliteJobs } from './sqlite.ts'
import type { JobStore } from './store.ts'

export const defaultFolder = '.plimsoll/jobs'

const database = /^postgres(ql)?:\/\//i

/** True: several clusters may use it, one of which leads. */
export function isShared(location: string): boolean {
  return database.test(location) || isDynamo(location)
}

/** Throws ConfigError if the location names no store, or one that requires what is not installed. */
export function checkJobStore(location: string): void {
  if (database.test(location)) return checkDatabase(location)
  if (isDynamo(location)) {
    parseDynamo(location)
    return checkDynamo('store: DynamoDB')
  }
  if (location === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(location))
    throw new ConfigError(
      `store = ${withoutPassword(location)}: must be the path of a folder, or begin with postgres:// or dynamodb://`,
    )
}

/** `location`: a folder, which is created if missing, the URL of a PostgreSQL database, or tables of DynamoDB. */
export async function openJobStore(location: string = defaultFolder): Promise<JobStore> {
  checkJobStore(location)
  if (database.test(location)) return openPostgresJobs({ url: location })
  return isDynamo(location) ? openDynamoJobs(location) : openSqliteJobs({ folder: location })
}

function withoutPassword(location: string): string {
  return location.replace(/^([^:]+:\/\/).*@/, '$1…@')
}
