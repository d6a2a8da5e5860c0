/**
 * The space that all request bodies of a front share: memory, and files beyond it. No body waits for space: a body that
 * holds some while it waits for more could block all others. A body without space is refused; slow ones are ended first.
 */

import { tmpdir } from 'node:os'
import { Outage } from '../../lib/outage.ts'
import { RecoveryTime, ReleaseRate, spreadMs } from '../../lib/retry-times.ts'
import { RequestProblem, retryAfter } from '../problem.ts'

export interface BudgetOptions {
  memoryBytes: number
  diskBytes: number
  log?(line: string): void
  /** A clock in milliseconds. Default: the process's. */
  now?(): number
}

/** Under pressure, a body that has received less than `paceBytes` in the last `paceMs` is ended. */
const [paceBytes, paceMs] = [64 * 1024, 10_000]
/** Added to the size of each chunk in memory: many small ones take more memory than their bytes. */
export const chunkOverhead = 128
/** The time over which the rate is measured at which bodies release their space. */
const releaseMs = 30_000
/** How long files cannot be written, until that has ended once. */
const guessedOutageMs = 10_000
const diskFull: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** What one body holds. */
export interface BodyShare {
  /** False: there is no space. */
  keepInMemory(bytes: number): boolean
  keepInFile(bytes: number): boolean
  /** What is held in memory, these bytes, is about to be written to a file. False: there is no space. */
  moveToFile(bytes: number): boolean
  /** It has been written; only now is its memory free. */
  movedToFile(): void
  /** This many bytes stay in memory besides the file, in place of those before. False: there is no space. */
  keepRecent(bytes: number): boolean
  /** Nothing more arrives. */
  complete(): void
  /** Idempotent. */
  release(): void
}

interface Held {
  memory: number
  disk: number
  /** Received so far, and when `paceBytes` more than at the mark before had been received. */
  received: number
  markedAt: number
  markedBytes: number
  isComplete: boolean
  end(): void
}

export class BodyBudget {
  readonly #options: BudgetOptions
  readonly #held = new Set<Held>()
  readonly #storing: Outage
  readonly #storingAgain: RecoveryTime
  readonly #released: ReleaseRate
  #refused = 0
  memoryBytes = 0
  diskBytes = 0

  constructor(options: BudgetOptions) {
    this.#options = options
    const words = {
      failed: (code: string) => `front: request bodies cannot be stored in ${tmpdir()} (${code})`,
      works: () => 'front: request bodies can be stored again',
    }
    this.#storing = new Outage(words, (line) => options.log?.(line))
    this.#storingAgain = new RecoveryTime(guessedOutageMs, () => this.#now())
    this.#released = new ReleaseRate(releaseMs, () => this.#now())
  }

  /** The refusal of a body of this length: it does not fit now, or never. Undefined: it fits. */
  refusal(bytes: number, memoryLimit: number): RequestProblem | undefined {
    const { memoryBytes, diskBytes } = this.#options
    if (this.hasRoom(bytes, memoryLimit)) return undefined
    if (bytes <= Math.max(diskBytes, Math.min(memoryLimit, memoryBytes))) return this.full(bytes)
    const message = `The body is larger than the space for all bodies (${mb(diskBytes)} MB of disk); the operator can raise --body-disk.`
    return new RequestProblem(413, 'body-too-large', message, { headers: { connection: 'close' } })
  }

  /** True: a body of this length would fit now. */
  hasRoom(bytes: number, memoryLimit: number): boolean {
    const { memoryBytes } = this.#options
    if (bytes <= memoryLimit && this.memoryBytes + bytes <= memoryBytes) return true
    return this.#makeRoom(bytes)
  }

  /** `end` ends the body, which then releases its share: it is too slow, and others need its space. */
  open(end: () => void): BodyShare {
    const held: Held = {
      ...{ memory: 0, disk: 0, received: 0, markedAt: this.#now(), markedBytes: 0, isComplete: false },
      end,
    }
    this.#held.add(held)
    return {
      keepInMemory: (bytes) => this.#keepInMemory(held, bytes),
      keepInFile: (bytes) => {
        if (!this.#takeDisk(held, bytes)) return false
        this.#received(held, bytes)
        return true
      },
      moveToFile: (bytes) => this.#takeDisk(held, bytes),
      movedToFile: () => {
        if (!this.#held.has(held)) return
        this.#hold(held, 0)
      },
      keepRecent: (bytes) => {
        const more = bytes - held.memory
        const fits = this.#held.has(held) && this.memoryBytes + more <= this.#options.memoryBytes
        if (fits) this.#hold(held, bytes)
        else if (this.#held.has(held)) this.#hold(held, 0)
        return fits
      },
      complete: () => {
        held.isComplete = true
      },
      release: () => {
        if (!this.#held.delete(held)) return
        this.memoryBytes -= held.memory
        this.diskBytes -= held.disk
        this.#released.released(held.memory + held.disk)
      },
    }
  }

  /** The refusal of a body without space. `bytes`: its length, or what is known of it. */
  full(bytes = paceBytes): RequestProblem {
    const { memoryBytes, diskBytes } = this.#options
    return new RequestProblem(
      503,
      'bodies-full',
      `The bodies of other requests use all the space for bodies (${mb(memoryBytes)} MB of memory, ${mb(diskBytes)} MB ` +
        'of disk); try again. The operator can raise --body-memory and --body-disk.',
      { headers: { connection: 'close', ...retryAfter(this.#roomMs(bytes)) } },
    )
  }

  /** The refusal of a body whose file cannot be written. The operator is told once, until a file is written again. */
  notStored({ code = 'error' }: NodeJS.ErrnoException): RequestProblem {
    this.#storing.failed(code)
    this.#storingAgain.begins()
    const isFull = diskFull.has(code)
    return new RequestProblem(
      isFull ? 507 : 503,
      'body-not-stored',
      isFull
        ? 'The disk for request bodies is full.'
        : `The body of the request cannot be stored now (${code}); try again.`,
      { headers: { connection: 'close', ...retryAfter(this.#storingAgain.retryAfterMs()) } },
    )
  }

  /** A whole body has been written to its file. */
  stored(): void {
    this.#storing.works()
    this.#storingAgain.ends()
  }

  #keepInMemory(held: Held, bytes: number): boolean {
    if (!this.#held.has(held) || this.memoryBytes + bytes > this.#options.memoryBytes) return false
    this.memoryBytes += bytes
    held.memory += bytes
    this.#received(held, bytes)
    return true
  }

  #hold(held: Held, bytes: number): void {
    this.memoryBytes += bytes - held.memory
    held.memory = bytes
  }

  #takeDisk(held: Held, bytes: number): boolean {
    if (!this.#held.has(held) || !this.#makeRoom(bytes, held)) return false
    this.diskBytes += bytes
    held.disk += bytes
    return true
  }

  #received(held: Held, bytes: number): void {
    held.received += bytes
    if (held.received - held.markedBytes < paceBytes) return
    held.markedBytes = held.received
    held.markedAt = this.#now()
  }

  /** Ends the slowest bodies until the disk has room. */
  #makeRoom(bytes: number, except?: Held): boolean {
    const { diskBytes } = this.#options
    if (bytes > diskBytes) return false
    if (this.diskBytes + bytes <= diskBytes) return true
    const slow = [...this.#held]
      .filter((held) => held !== except && !held.isComplete && held.disk > 0)
      .filter(({ markedAt }) => markedAt <= this.#now() - paceMs)
      .sort((a, b) => a.markedAt - b.markedAt)
    for (const held of slow) {
      held.end()
      if (this.diskBytes + bytes <= diskBytes) return true
    }
    return false
  }

  /** The time in which this much space becomes free. Slow bodies, at the latest, are then ended. */
  #roomMs(bytes: number): number {
    const ms = this.#released.msFor(bytes)
    return spreadMs(ms === Infinity ? paceMs : ms, ++this.#refused)
  }

  #now(): number {
    return this.#options.now?.() ?? performance.now()
  }
}

function mb(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}
