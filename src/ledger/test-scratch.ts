/** What a test of the file ledger needs: a folder, ledgers and other processes, all gone when it ends. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { LedgerError } from '../errors.ts'
import type { GrowthLimits } from './growth.ts'
import type { Ledger } from './ledger.ts'
import { openSqliteLedger, type SqliteLedgerLimits } from './sqlite.ts'

/** Trouble is found and retried at once, and every time reported. */
export const hasty = { busyMs: 20, retryMs: 10, maxRetryMs: 20, troubleEveryMs: 0 } as const

/** Rows are forgotten as soon as they may be. */
export const tidy = { tidyAfterMs: 0, tidyEveryMs: 0 } as const

/** Far longer than anything takes: a test that waits in vain fails instead of hanging. */
const patienceMs = 60_000

export interface Scratch {
  folder: string
  file: string
  /** Trouble is kept in `troubles`, in order; `troubled` resolves with the next one. */
  open(limits?: Partial<SqliteLedgerLimits>, growth?: Partial<GrowthLimits>): Promise<Ledger>
  troubles: LedgerError[]
  troubled(): Promise<LedgerError>
  /** Another process on the same file; see test-process.ts for the roles. Resolves when it is ready. */
  process(role: 'lock' | 'ledger'): Promise<OtherProcess>
}

export interface OtherProcess {
  child: ChildProcess
  /** Everything that it wrote to its standard error output. */
  errors(): string
  /** Resolves with the answer. */
  ask(command: string): Promise<unknown>
  kill(): Promise<void>
}

export function scratch(t: TestContext): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-ledger-'))
  const file = join(folder, 'data', 'ledger.db')
  const ledgers: Ledger[] = []
  const others: OtherProcess[] = []
  const troubles: LedgerError[] = []
  let listeners: ((error: LedgerError) => void)[] = []
  t.after(async () => {
    await Promise.all(others.map((other) => other.kill()))
    await Promise.all(ledgers.map((ledger) => ledger.close()))
    rmSync(folder, { recursive: true, force: true })
  })

  return {
    folder,
    file,
    troubles,
    troubled: () =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('no trouble was reported')), patienceMs)
        listeners.push((error) => {
          clearTimeout(timer)
          resolve(error)
        })
      }),
    async open(limits = {}, growth = {}) {
      const onTrouble = (error: LedgerError) => {
        troubles.push(error)
        const told = listeners
        listeners = []
        for (const tell of told) tell(error)
      }
      const ledger = await openSqliteLedger({ file, onTrouble, limits, growth })
      ledgers.push(ledger)
      return ledger
    },
    async process(role) {
      const entry = new URL('./test-process.ts', import.meta.url)
      const child = fork(entry, [role, file], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
      const exited = once(child, 'exit')
      let errors = ''
      child.stderr!.setEncoding('utf8').on('data', (text: string) => {
        errors += text
      })
      const answer = async () => {
        const signal = AbortSignal.timeout(patienceMs)
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
