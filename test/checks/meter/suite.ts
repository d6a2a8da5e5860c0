/** A third-party package that is run metered and unmetered. */
export interface Suite {
  readonly name: string
  /** Packages to meter: the package itself and its dependencies. */
  readonly packages: string[]
  /** Small enough to run in every mode, and in `test/long`. */
  readonly small?: boolean
  /** Passes each output to `out`, with a name that is unique within the suite. */
  run(out: (name: string, value: unknown) => void): Promise<void>
}

/** The message of the error that `run` throws, for outputs. */
export function messageOf(run: () => unknown): string {
  try {
    return `no error: ${JSON.stringify(run())}`
  } catch (error) {
    return (error as Error).message
  }
}
