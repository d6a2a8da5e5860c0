import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteJobs } from './sqlite.ts'
import { durableStoreContract } from './testing/contract.ts'

durableStoreContract('sqlite', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-jobs-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return { open: () => openSqliteJobs({ folder }), location: folder }
})
