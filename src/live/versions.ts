/** The versions of a cluster's code: the one with which processes start, the one before it, and one on trial. */

import { incompatibility } from '../wire/admission.ts'
import type { Version } from './version.ts'

type Code = Readonly<Record<string, string>>

interface Announced {
  version: number
  code: Code
  launch?: string | undefined
}

interface Trial {
  launch: string
  version: Version
  /** The hashes that its worker announced. */
  code?: Code
}

export class Versions {
  #current: Version
  #served: Version
  #code: Code
  /** The code of the version before: fronts keep it until they restart, workers during a change. */
  #codeBefore: Code | undefined
  #isChanging = false
  #lastRead: readonly string[] = []
  #trial: Trial | undefined

  constructor(current: Version, code: Code) {
    this.#current = current
    this.#served = current
    this.#code = code
  }

  /** Workers and fronts start with it. */
  get current(): Version {
    return this.#current
  }

  /** The version by which requests are read. Differs from the current one during a change, and after one that failed. */
  get served(): Version {
    return this.#served
  }

  serve(version: Version): void {
    this.#served = version
  }

  /** The user's files and folders of the version that is served, and of the one that was read last. */
  watched(): string[] {
    return [...new Set([...this.#served.watched, ...this.#lastRead])]
  }

  /** A version was read, and may be refused. */
  read({ watched }: Version): void {
    this.#lastRead = watched
  }

  /** The version of a launch. A worker on trial must have a healthy program, or not join. */
  startedBy(launch: string): { version: Version; mustStart: boolean } {
    const trial = this.#trial?.launch === launch ? this.#trial : undefined
    return { version: trial?.version ?? this.#current, mustStart: trial !== undefined }
  }

  /** The worker of this launch will try a version; returns the code that the worker announces, once it has connected. */
  tryOut(launch: string, version: Version): { code(): Code | undefined; end(): void } {
    const trial: Trial = { launch, version }
    this.#trial = trial
    return {
      code: () => trial.code,
      end: () => {
        if (this.#trial === trial) this.#trial = undefined
      },
    }
  }

  /** Processes start with this version from now on. Until `finish` workers of the last one may join too. */
  begin(version: Version, code: Code): void {
    if (version.id !== this.#current.id) this.#codeBefore = this.#code
    this.#current = version
    this.#code = code
    this.#isChanging = true
  }

  finish(): void {
    this.#isChanging = false
  }

  /** True: a worker with this code runs the current version. */
  isCurrent(code: Code): boolean {
    return Object.entries(this.#code).every(([name, hash]) => code[name] === hash)
  }

  /** Why it may not join; undefined: it may. */
  refusal(hello: Announced, who: 'worker' | 'front'): string | undefined {
    if (who === 'worker' && this.#trial && this.#trial.launch === hello.launch) {
      this.#trial.code = hello.code
      // Its code is compared once the cluster itself has loaded it.
      return incompatibility(hello, {}, who)
    }
    const why = incompatibility(hello, this.#code, who)
    const mayBeOlder = who === 'front' || this.#isChanging
    if (why === undefined || !mayBeOlder || !this.#codeBefore) return why
    return incompatibility(hello, this.#codeBefore, who) === undefined ? undefined : why
  }
}
