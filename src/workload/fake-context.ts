/** A fake job context, for tests that call `run` directly. */

import type { JobContext } from './workload.ts'

/** A job context whose fields are `overrides` or do nothing. */
export type FakeContext = JobContext & {
  /** What the workload passed to `progress`. */
  readonly fractions: number[]
}

/** For tests that call a workload's `run` directly: by default without a body, and with an empty `dataDir`. */
export function fakeContext(overrides: Partial<JobContext> = {}): FakeContext {
  const fractions: number[] = []
  return {
    jobId: 'job-1',
    attempt: 1,
    dataDir: '',
    body: emptyBody(),
    progress: (fraction) => {
      fractions.push(fraction)
    },
    uninterrupted: async (fn) => await fn(),
    charge: () => {},
    steps: () => {},
    log: () => {},
    ...overrides,
    fractions,
  }
}

function emptyBody(): JobContext['body'] {
  return Object.assign(emptyStream(), { bytes: async () => new Uint8Array() })
}

async function* emptyStream(): AsyncGenerator<Uint8Array> {}
