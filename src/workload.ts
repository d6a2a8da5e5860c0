/** What a workload is: a name, a schema of its parameters, and a function that does the work. */

/** The part of Standard Schema (standardschema.dev) that is needed to read parameters and to type them. */
export interface ParamsSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => unknown
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

export interface Context {
  /** The same on every attempt, so that work done outside can be recognised. */
  readonly jobId: string
  readonly attempt: number
  /** A folder for files that outlive the job. Every process of the workload on this machine shares it. */
  readonly dataDir: string
  readonly body: AsyncIterable<Uint8Array> & { bytes(): Promise<Uint8Array> }
  progress(fraction: number): void
  /** While `fn` runs the job is not paused: wrap what holds a lock. */
  uninterrupted<T>(fn: () => T | Promise<T>): Promise<T>
  log(...args: unknown[]): void
}

export interface Workload<Params = unknown> {
  name: string
  description: string
  params: ParamsSchema<Params>
  /** False: once it runs it is not paused. Default true. */
  preemptible?: boolean
  /** False: started at most once. Default true. */
  safeToRepeat?: boolean | ((params: Params) => boolean)
  run(params: Params, ctx: Context): unknown
}

export function defineWorkload<Params>(workload: Workload<Params>): Workload<Params> {
  return workload
}

export interface ReplyOptions {
  status?: number
  contentType?: string
  headers?: Record<string, string>
}

/** An answer with its own type. */
export class Reply {
  readonly body: unknown
  readonly status: number
  readonly contentType: string | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(body: unknown, options: ReplyOptions) {
    this.body = body
    this.status = options.status ?? 200
    this.contentType = options.contentType
    this.headers = options.headers ?? {}
  }
}

export function reply(body: unknown, options: ReplyOptions = {}): Reply {
  return new Reply(body, options)
}
