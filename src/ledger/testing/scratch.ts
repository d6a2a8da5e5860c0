/** A temporary folder for tests of the SQLite ledger, with ledgers and other processes that end with the test. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { LedgerError } from '../../lib/errors.ts'
import type { Ledger } from '../ledger.ts'
import type { RetentionLimits } from '../retention.ts'
import { openSqliteLedger, type SqliteLedgerLimits } from '../sqlite.ts'

/** Failures are retried at once, and each one is reported. */
export const quickRetries = { busyMs: 20, retryMs: 10, maxRetryMs: 20, errorEveryMs: 0 } as const

/** Rows are pruned without delay. */
export const eagerPruning = { pruneAfterMs: 0, pruneEveryMs: 0 } as const

/** Far longer than any step takes, so that a failing test ends instead of hanging. */
const timeoutMs = 60_000

export interface Scratch {
  folder: string
  file: string
  open(limits?: Partial<SqliteLedgerLimits>, retention?: Partial<RetentionLimits>): Promise<Ledger>
  /** All errors that the ledgers reported, in order. */
  reportedErrors: LedgerError[]
  /** Resolves with the next error that a ledger reports. */
  nextError(): Promise<LedgerError>
  /** Starts another process on the same file; see other-process.ts for the roles. Resolves when it is ready. */
  process(role: 'lock' | 'ledger'): Promise<OtherProcess>
}

export interface OtherProcess {
  child: ChildProcess
  /** Everything the process wrote to standard error. */
  errors(): string
  /** Resolves with the reply. */
  ask(command: string): Promise<unknown>
  kill(): Promise<void>
}

export function scratch(t: TestContext): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-ledger-'))
  const file = join(folder, 'data', 'ledger.db')
  const ledgers: Ledger[] = []
  const others: OtherProcess[] = []
  const reportedErrors: LedgerError[] = []
  let listeners: ((error: LedgerError) => void)[] = []
  t.after(async () => {
    await Promise.all(others.map((other) => other.kill()))
    await Promise.all(ledgers.map((ledger) => ledger.close()))
    rmSync(folder, { recursive: true, force: true })
  })

  return {
    folder,
    file,
    reportedErrors,
    nextError: () =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('no error was reported')), timeoutMs)
        listeners.push((error) => {
          clearTimeout(timer)
          resolve(error)
        })
      }),
    async open(limits = {}, retention = {}) {
      const onError = (error: LedgerError) => {
        reportedErrors.push(error)
        const current = listeners
        listeners = []
        for (const listener of current) listener(error)
      }
      const ledger = await openSqliteLedger({ file, onError, limits, retention })
      ledgers.push(ledger)
      return ledger
    },
    async process(role) {
      const entry = new URL('./other-process.ts', import.meta.url)
      const child = fork(entry, [role, file], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
      const exited = once(child, 'exit')
      let errors = ''
      child.stderr!.setEncoding('utf8').on('data', (text: string) => {
        errors += text
      })
      const answer = async () => {
        const signal = AbortSignal.timeout(timeoutMs)
        const [message] = await Promise.race([once(child, 'message', { signal }), exited.then(() => [])])
        if (message === undefined) throw new Error(`the other process ended: ${errors}`)
        return message as unknown
      }
      const other: OtherProcess = {
        child,
        errors: () => errors,
        ask(command) {
          child.send(command)
          return answer()
        },
        async kill() {
          child.kill('SIGKILL')
          await exited
        },
      }
      others.push(other)
      await answer()
      return other
    },
  }
}
