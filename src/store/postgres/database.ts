/**
 * Connections to a PostgreSQL server. They hold no state between transactions, so a pooler may give each transaction to
 * another connection of the server.
 */
import type { Pool, PoolClient } from 'pg'
import { ConfigError, StoreError } from '../../lib/errors.ts'
import { explainError, isCollision, isRejected } from './explain-error.ts'

export type Value = string | number | boolean | null | Uint8Array | readonly string[] | readonly number[]
export type Query = <Row extends object>(text: string, values?: readonly Value[]) => Promise<Row[]>

export interface Database {
  /** The name of the store in errors: without user and password. */
  readonly store: string
  /** A statement that changes nothing. It is repeated once if its connection is lost. */
  read: Query
  /** One statement, in a transaction of its own. */
  write: Query
  /** The transaction commits when `work` resolves with a value, and is rolled back if it rejects or resolves with undefined. */
  transaction<T>(work: (query: Query) => Promise<T | undefined>): Promise<T | undefined>
  /** Waits for what has begun. */
  close(): Promise<void>
}

export interface DatabaseOptions {
  connections: number
  /** Time limits: for a connection, which may have to become free first, and for a statement. */
  connectMs: number
  limitMs: number
}

const idleMs = 60_000
const mostCollisions = 5
const int8 = 20

/** The name of a database in messages: without user, password and parameters. */
export function nameOf(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url)
    return `${protocol}//${host}${pathname}`
  } catch {
    throw new ConfigError(
      'store: the URL of the database is invalid: must be postgres://USER:PASSWORD@HOST/DATABASE',
    )
  }
}

/** Throws ConfigError if the URL is invalid or the driver is not installed. */
export function checkDatabase(url: string): void {
  nameOf(url)
  try {
    import.meta.resolve('pg')
  } catch {
    throw new ConfigError('store: a PostgreSQL database requires npm i pg')
  }
}

/** Connects when it is first used. Rejects with ConfigError if the driver is missing or the URL is invalid. */
export async function openDatabase(
  url: string,
  { connections, connectMs, limitMs }: DatabaseOptions,
): Promise<Database> {
  checkDatabase(url)
  const store = `job store ${nameOf(url)}`
  const { Pool: PgPool, types } = (await import('pg')).default
  const pool = new PgPool({
    connectionString: url,
    fallback_application_name: 'plimsoll',
    max: connections,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: idleMs,
    query_timeout: limitMs,
    keepAlive: true,
    types: {
      getTypeParser: (oid, format) => (oid === int8 ? Number : types.getTypeParser(oid, format)),
    },
  })
  // Idle connections that break are replaced.
  pool.on('error', () => {})
  return databaseOn(pool, store)
}

function databaseOn(pool: Pool, store: string): Database {
  async function use<T>(wasWriting: boolean, work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch((error: unknown) => {
      throw explainError(error, store, false)
    })
    // A failure between two statements rejects the next one.
    const ignore = () => {}
    client.on('error', ignore)
    let isUsable = false
    try {
      const result = await work(client)
      isUsable = true
      return result
    } catch (error) {
      isUsable = isRejected(error) || error instanceof StoreError
      throw isRejected(error) ? error : explainError(error, store, wasWriting)
    } finally {
      client.off('error', ignore)
      client.release(!isUsable)
    }
  }

  /** Repeats what the server aborted because of another transaction. */
  async function settled<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await work()
      } catch (error) {
        if (!isCollision(error) || tries === mostCollisions) throw error
      }
    }
  }

  const one = (wasWriting: boolean): Query => {
    return async <Row extends object>(text: string, values: readonly Value[] = []) =>
      settled(() => use(wasWriting, async (client) => (await client.query<Row>(text, [...values])).rows))
  }
  const readOnce = one(false)

  return {
    store,
    write: one(true),
    async read<Row extends object>(text: string, values?: readonly Value[]) {
      try {
        return await readOnce<Row>(text, values).catch((error: unknown) => {
          if (isRejected(error)) throw error
          return readOnce<Row>(text, values)
        })
      } catch (error) {
        throw explainError(error, store, false)
      }
    },
    transaction: (work) =>
      settled(() =>
        use(true, async (client) => {
          const query: Query = async (text, values = []) => (await client.query(text, [...values])).rows
          await client.query('BEGIN')
          try {
            const result = await work(query)
            await client.query(result === undefined ? 'ROLLBACK' : 'COMMIT')
            return result
          } catch (error) {
            if (isRejected(error) || error instanceof StoreError) await client.query('ROLLBACK')
            throw error
          }
        }),
      ),
    close: () => pool.end(),
  }
}
