/**
 * Existing servers: accuracy of estimates for a server in Python, measured by CPU time, after 50 requests; and the speed
 * of the path to a server, beside nginx.
 */

import { join } from 'node:path'
import { table } from '../src/cli/terminal/table.ts'
import { loadConfig } from '../src/config/load.ts'
import type { QuoteDocument } from '../src/estimate/quote.ts'
import { stream } from '../src/lib/random.ts'
import { median } from '../src/simulate/summary.ts'
import { withCluster } from './cluster.ts'
import type { BenchOptions } from './options.ts'
import { path } from './own/path.ts'

const config = join(import.meta.dirname, '../examples/python/plimsoll.config.mts')
const [learned, asked] = [50, 40]

interface Found {
  /** q-errors of quotes, and between two runs of the same request. */
  quotes: number[]
  noise: number[]
}

async function run(seed: number): Promise<Found> {
  const { own } = await loadConfig(config)
  return withCluster({ files: [], own: own!, config, slots: 8 }, async ({ url }) => {
    const random = stream(seed, 'sizes')
    const draw = () => Math.round(30_000 * 20 ** random.next())
    const cost = async (below: number) => {
      const answer = await fetch(`${url}/primes?below=${below}`)
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
      await answer.arrayBuffer()
      return Number(answer.headers.get('plimsoll-work'))
    }
    for (let i = 0; i < learned; i++) await cost(draw())
    const found: Found = { quotes: [], noise: [] }
    for (let i = 0; i < asked; i++) {
      const below = draw()
      const answer = await fetch(`${url}/-/estimate/primes?below=${below}`)
      const { work } = (await answer.json()) as QuoteDocument
      const first = await cost(below)
      found.quotes.push(factor(work, first))
      found.noise.push(factor(first, await cost(below)))
    }
    return found
  })
}

function factor(one: number, other: number): number {
  return Math.max(one / other, other / one)
}

const parts = ['estimates', 'path'] as const

export function isPartOfOwn(name: string): name is (typeof parts)[number] {
  return (parts as readonly string[]).includes(name)
}

export async function own(options: BenchOptions): Promise<Record<string, unknown>> {
  const { only } = options
  return {
    ...(only !== 'path' && (await estimates(options))),
    ...(only !== 'estimates' && (await path(options))),
  }
}

async function estimates({ quick }: BenchOptions): Promise<Record<string, number>> {
  const runs: Found[] = []
  for (let seed = 1; seed <= (quick ? 2 : 9); seed++) runs.push(await run(seed))
  const [quotes, noise] = [runs.map((it) => median(it.quotes)), runs.map((it) => median(it.noise))]
  const rows = runs.map((_, i) => [`${i + 1}`, quotes[i]!.toFixed(3), noise[i]!.toFixed(3)])
  console.log(table(['seed', 'q-error of the quote', 'q-error of a repeat'], rows))
  console.log(`
A server in Python behind Plimsoll (examples/python). After ${learned} requests for /primes of log-uniform sizes
(a factor of 20), ${asked} new requests: q-error (the larger of a ÷ b and b ÷ a) between the quote and the measured
CPU time, and between two consecutive runs of the same request. Medians.
`)
  return {
    median_q_error_after_50: Number(median(quotes).toFixed(3)),
    median_noise: Number(median(noise).toFixed(3)),
  }
}
