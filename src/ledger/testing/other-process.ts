/** A separate process for tests: it either locks a database or opens a ledger. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteLedger } from '../sqlite.ts'
import { sampleRow } from './samples.ts'
import { quickRetries } from './scratch.ts'

const [role, file] = process.argv.slice(2) as ['lock' | 'ledger', string]
const send = (message: unknown) => process.send!(message)
const commands = role === 'lock' ? lock() : await ledger()
process.on('message', async (command: string) => send(await commands[command]!()))
process.on('disconnect', () => process.exit())
send('ready')

type Commands = Record<string, () => unknown>

/** Locks the database like a database browser with an open transaction. */
function lock(): Commands {
  mkdirSync(dirname(file), { recursive: true })
  const db = new DatabaseSync(file)
  db.exec('BEGIN IMMEDIATE')
  return {
    release: () => {
      db.close()
      return 'released'
    },
  }
}

/** Each `record` command records ten more jobs. */
async function ledger(): Promise<Commands> {
  let next = 0
  let listener = (_message: string) => {}
  const opened = await openSqliteLedger({
    file,
    onError: (error) => listener(error.message),
    limits: quickRetries,
  })
  return {
    record: () => {
      for (let i = 0; i < 10; i++) opened.record(sampleRow(next++))
      return 'recorded'
    },
    /** Replies with the next reported error. */
    error: () =>
      new Promise((resolve) => {
        listener = resolve
      }),
    flush: () => opened.flush().then(() => 'flushed'),
    count: () => opened.counts(),
    close: () => opened.close().then(() => 'closed'),
  }
}
