/** A process that runs shop requests on command, for concurrency tests. */

import { fakeContext } from 'plimsoll/testing'
import type { JobContext as Context } from 'plimsoll/workload'
import shop from '../shop.ts'
import { readParams } from '../testing/params.ts'

export interface Errand {
  dataDir: string
  jobId: string
  params: Record<string, unknown>
  /** Wait for 'go on' before and after the uninterrupted part. */
  gated: boolean
}

export type News = { answer: unknown } | { error: string } | { gate: 'before' | 'after' } | 'ready'

let goOn = () => {}

process.on('message', (message: Errand | 'go on') => {
  if (message === 'go on') goOn()
  else serve(message)
})
process.on('disconnect', () => process.exit())
tell('ready')

function tell(news: News): void {
  process.send?.(news)
}

async function serve({ dataDir, jobId, params, gated }: Errand): Promise<void> {
  const ctx = fakeContext({ dataDir, jobId, ...(gated && { uninterrupted: betweenGates }) })
  try {
    tell({ answer: await shop.run(readParams(shop, params), ctx) })
  } catch (error) {
    tell({ error: String(error) })
  }
}

const betweenGates: Context['uninterrupted'] = async (fn) => {
  await gate('before')
  const answer = await fn()
  await gate('after')
  return answer
}

function gate(name: 'before' | 'after'): Promise<void> {
  return new Promise((resolve) => {
    goOn = resolve
    tell({ gate: name })
  })
}
