/** The ledger of a virtual brain: its real writer and buffer, above a thread that writes rows to the virtual disk. */

import type { LedgerRow } from '../../src/ledger/ledger.ts'
import { copyRow } from '../../src/ledger/row.ts'
import { Writer, writerLimits } from '../../src/ledger/writer.ts'
import type { LedgerError } from '../../src/lib/errors.ts'
import type { VirtualDisk } from './disk.ts'
import { newProcess, type VirtualProcess, type VirtualTime } from './time.ts'

/** Time that a message to the thread takes. */
const messageMs = 0.1
/** Small, so that rows must be dropped while the disk is full. */
const limits = { ...writerLimits, maxRows: 6 }

export interface LedgerParts {
  time: VirtualTime
  disk: VirtualDisk
  failed(why: string): void
}

/** One file, which outlives the brains that write it. */
export class VirtualLedgerFile {
  readonly #parts: LedgerParts
  readonly #jobs = new Set<string>()
  #last: VirtualLedger | undefined

  constructor(parts: LedgerParts) {
    this.#parts = parts
  }

  /** Opened by a brain. */
  open(process: VirtualProcess): VirtualLedger {
    this.#last = new VirtualLedger({ ...this.#parts, process, file: this.#jobs })
    return this.#last
  }

  /** Rows of the last brain that are neither written nor counted as dropped. */
  get missing(): number {
    return this.#last?.missing ?? 0
  }

  /** `droppedRows`: by the last brain. */
  get counts() {
    return { ledgerRows: this.#jobs.size, droppedRows: this.#last?.dropped ?? 0 }
  }
}

interface VirtualLedgerParts extends LedgerParts {
  /** The brain's. */
  process: VirtualProcess
  /** The jobs in the file. */
  file: Set<string>
}

export class VirtualLedger {
  readonly #parts: VirtualLedgerParts
  readonly #thread: VirtualProcess
  readonly #recorded = new Set<string>()
  readonly #writer: Writer<LedgerRow>

  constructor(parts: VirtualLedgerParts) {
    this.#parts = parts
    this.#thread = newProcess(`ledger of ${parts.process.name}`)
    this.#writer = new Writer({
      ...{ name: 'ledger', limits, copy: copyRow },
      write: (rows) => this.#write(rows),
      onError: (error) => this.#reported(error),
    })
  }

  record(row: LedgerRow): void {
    this.#recorded.add(row.job)
    this.#writer.record(row)
  }

  /** Rows that are neither in the file nor counted as dropped. */
  get missing(): number {
    const written = [...this.#recorded].filter((job) => this.#parts.file.has(job)).length
    return this.#recorded.size - written - this.#writer.dropped
  }

  get dropped(): number {
    return this.#writer.dropped
  }

  /** In one transaction. A write that fails may have been committed. */
  #write(rows: readonly LedgerRow[]): Promise<void> {
    const { time, process, disk, file } = this.#parts
    const thread = this.#thread
    return new Promise((resolve, reject) => {
      const reply = (settle: () => void) =>
        time.schedule(Math.max(time.now, thread.frozenUntilMs) + messageMs, 'input', process, settle)
      time.schedule(time.now + messageMs, 'input', thread, () => {
        try {
          disk.write(thread, () => {
            for (const { job } of rows) file.add(job)
          })
          reply(resolve)
        } catch (error) {
          reply(() => reject(error))
        }
      })
    })
  }

  #reported({ message }: LedgerError): void {
    if (!/(ENOSPC|EIO).*; \d+ rows wait in memory/.test(message)) this.#parts.failed(message)
  }
}
