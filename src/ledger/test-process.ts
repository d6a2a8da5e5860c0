/** A process that tests run beside themselves: one that locks a database, or one that has a ledger open. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sampleRow } from './contract.ts'
import { openSqliteLedger } from './sqlite.ts'
import { hasty } from './test-scratch.ts'

const [role, file] = process.argv.slice(2) as ['lock' | 'ledger', string]
const say = (message: unknown) => process.send!(message)
const commands = role === 'lock' ? lock() : await ledger()
process.on('message', async (command: string) => say(await commands[command]!()))
process.on('disconnect', () => process.exit())
say('ready')

type Commands = Record<string, () => unknown>

/** Holds the database as a browser with an open transaction does. */
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

/** Every `record` is for ten more jobs. */
async function ledger(): Promise<Commands> {
  let next = 0
  let tell = (_message: string) => {}
  const opened = await openSqliteLedger({ file, onTrouble: (error) => tell(error.message), limits: hasty })
  return {
    record: () => {
      for (let i = 0; i < 10; i++) opened.record(sampleRow(next++))
      return 'recorded'
    },
    /** Answers with the next trouble. */
    trouble: () =>
      new Promise((resolve) => {
        tell = resolve
      }),
    flush: () => opened.flush().then(() => 'flushed'),
    count: () => opened.counts(),
    close: () => opened.close().then(() => 'closed'),
  }
}
