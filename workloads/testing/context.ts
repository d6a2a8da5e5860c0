/** A fake job context, for tests that call `run` directly. */

import type { JobContext as Context } from 'plimsoll/workload'

export function fakeContext(overrides: Partial<Context> = {}): Context & { readonly fractions: number[] } {
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

function emptyBody(): Context['body'] {
  return Object.assign(emptyStream(), { bytes: async () => new Uint8Array() })
}

async function* emptyStream(): AsyncGenerator<Uint8Array> {}
