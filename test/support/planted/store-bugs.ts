/** Mistakes of the stores on disk that their contract must find. The store in memory has its own among the keeper's. */

import { type Planted, planted } from './plant.ts'

const sqlite = 'src/store/sqlite.test.ts'
const postgres = 'test/long/postgres-store.test.ts'
const fenced = 'every write of an older epoch is fenced off'
const ranOut = 'another leader begins when a lease has run out'

export const storeBugs: Readonly<Record<string, readonly Planted[]>> = {
  'fencing of stores': [
    planted(
      'a store in SQLite that lets an older leader write',
      [
        'src/store/sqlite/batch.ts',
        'if (call.epoch !== current) throw fenced',
        'if (call.epoch > current) throw fenced',
      ],
      [sqlite, `sqlite: ${fenced}`],
    ),
    planted(
      'a lease in SQLite that a former leader renews',
      [
        'src/store/sqlite/writes.ts',
        'UPDATE leader SET until = ? WHERE epoch = ?',
        'UPDATE leader SET until = ? WHERE epoch >= ?',
      ],
      [sqlite, `sqlite: ${ranOut}`],
    ),
    planted(
      'a store in PostgreSQL that lets an older leader write',
      [
        'src/store/postgres/statements.ts',
        'FROM plimsoll.leader WHERE epoch = $1 FOR SHARE)`\n\nconst isLeading',
        'FROM plimsoll.leader WHERE epoch >= $1 FOR SHARE)`\n\nconst isLeading',
      ],
      [postgres, `postgres: ${fenced}`],
    ),
    planted(
      'a lease in PostgreSQL that a former leader renews',
      [
        'src/store/postgres/leader.ts',
        'WHERE epoch = $1 RETURNING epoch',
        'WHERE epoch >= $1 RETURNING epoch',
      ],
      [postgres, `postgres: ${ranOut}`],
    ),
  ],
}
