/** Messages about workloads for the operator, each once. */
import { withheldLine } from '../processes/environment.ts'

/** A workload may make up names without end. */
const mostKinds = 1_000

export class SlotNotices {
  readonly #passEnv: readonly string[]
  readonly #log: (line: string) => void
  readonly #known = new Set<string>()
  readonly #changing = new Set<string>()
  #saidWithheld = false

  constructor({ passEnv = [], log }: { passEnv?: readonly string[]; log(line: string): void }) {
    this.#passEnv = passEnv
    this.#log = log
  }

  /** A module that does not load may lack an environment variable. */
  unloadable(): void {
    const line = this.#saidWithheld ? undefined : withheldLine(process.env, this.#passEnv)
    this.#saidWithheld = true
    if (line !== undefined) this.#log(line)
  }

  /** Whether a job of this workload has changed its process: each of its jobs may need a slot of its own. */
  isChanging(workload: string): boolean {
    return this.#changing.has(workload)
  }

  /** A job changed its process. */
  changed(workload: string, changes: readonly string[]): void {
    this.#changing.add(workload)
    const kinds = changes.map((change) => `${workload}: ${change}`)
    const isNew = kinds.some((kind) => !this.#known.has(kind))
    if (!isNew || this.#known.size >= mostKinds) return
    for (const kind of kinds) this.#known.add(kind)
    this.#log(
      `workload ${workload}: a job changed its process (${changes.join(', ')}), so its slot is not reused and another must start. ` +
        'Changes that are meant to stay belong at the top level of the module',
    )
  }
}
