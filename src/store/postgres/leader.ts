/** The lease of the leader, by the clock of the database. */
import { fenced } from '../rows.ts'
import type { Lease } from '../store.ts'
import type { Database } from './database.ts'

const waitsForDisk = `SELECT CASE WHEN current_setting('synchronous_commit') = 'off'
  THEN set_config('synchronous_commit', 'on', true) END`

const isHeld = 'SELECT FROM plimsoll.lease WHERE until > clock_timestamp() AND holder <> $1'

const takeLease = `UPDATE plimsoll.lease
  SET epoch = epoch + 1, holder = $1, until = clock_timestamp() + make_interval(secs => $2 / 1000.0)
  WHERE until <= clock_timestamp() OR holder = $1 RETURNING epoch`

const renewLease = `UPDATE plimsoll.lease SET until = clock_timestamp() + make_interval(secs => $2 / 1000.0)
  WHERE epoch = $1 RETURNING epoch`

const releaseLease = "UPDATE plimsoll.lease SET until = '-infinity', holder = '' WHERE epoch = $1"

/** Writes take milliseconds. One that takes longer belongs to a leader whose connection is stuck. */
const patience = '2s'
const lockNotAvailable = '55P03'

const endStuckWrites = `SELECT pg_terminate_backend(pid) FROM pg_locks
  WHERE relation = 'plimsoll.leader'::regclass AND granted AND pid <> pg_backend_pid()
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/** Resolves with undefined while another leader's lease lasts. */
export async function lead(db: Database, holder: string, ttlMs: number): Promise<Lease | undefined> {
  // Without a lock: who asks again and again must not hold up the leader's writes.
  if ((await db.read(isHeld, [holder])).length > 0) return undefined
  const epoch = await begin(db, holder, ttlMs).catch(async (error: unknown) => {
    if ((error as { code?: string }).code !== lockNotAvailable) throw error
    await db.read(endStuckWrites)
    return begin(db, holder, ttlMs)
  })
  if (epoch === undefined) return undefined
  return {
    epoch,
    renew: async (ms) => (await db.write(renewLease, [epoch, ms])).length > 0,
    release: async () => void (await db.write(releaseLease, [epoch])),
  }
}

/**
 * Waits for the writes of earlier leaders that have begun. Writes that come later wait in the queue of the table's lock, so
 * that a busy leader cannot keep others out, and are rejected.
 */
async function begin(db: Database, holder: string, ttlMs: number): Promise<number | undefined> {
  return db.transaction(async (query) => {
    await query(waitsForDisk)
    await query(`SET LOCAL lock_timeout = '${patience}'`)
    // A process that vanishes here must not hold the lock until the server misses its connection.
    await query(`SET LOCAL idle_in_transaction_session_timeout = '${patience}'`)
    await query('LOCK TABLE plimsoll.leader IN EXCLUSIVE MODE')
    const [taken] = await query<{ epoch: number }>(takeLease, [holder, ttlMs])
    if (taken) await query('UPDATE plimsoll.leader SET epoch = $1', [taken.epoch])
    return taken?.epoch
  })
}

/** The error of a write whose epoch is not the leader's. */
export async function fencedError(db: Database, epoch: number) {
  const [current] = await db.read<{ epoch: number }>('SELECT epoch FROM plimsoll.leader')
  return fenced(db.store, epoch, current?.epoch ?? 0)
}
