/** What happens in a run, drawn from its seed: requests that are to be kept, and faults. */

import { type Random, stream } from '../../../src/lib/random.ts'

/** Requests and faults arrive in this time. */
export const busyMs = 30_000

/** A request as its client means it; it may be sent more than once. */
export interface RequestPlan {
  number: number
  client: string
  isRepeatable: boolean
  bodyBytes: number
  /** The body arrives in parts, and cannot be read twice. */
  isStreamed: boolean
  /** The client waits for the answer itself. */
  waits: boolean
  key?: string
  /** When it is sent; several times only with a key. */
  at: number[]
  /** When another request is sent with the same key. */
  conflictAt?: number
  cancelAt?: number
  webhook?: 'confirms' | 'disables'
}

export type FaultKind =
  /** `stall`: a process is frozen while calls of the store are under way. */
  | ('kill' | 'stop' | 'freeze' | 'stall')
  | ('full' | 'shaky' | 'slow' | 'unreachable')
  | ('front' | 'brain' | 'busy' | 'receiver' | 'clock' | 'store-clock')

/** What a run is about. */
interface Theme {
  kinds: readonly FaultKind[]
  faults: number
  twoClusters: number
  cancels: number
  webhooks: number
  longAnswers: number
}

const allKinds: readonly FaultKind[] = [
  ...(['kill', 'kill', 'stop', 'freeze', 'full', 'shaky', 'shaky', 'slow', 'unreachable'] as const),
  ...(['front', 'brain', 'busy', 'receiver', 'clock', 'store-clock'] as const),
]
const usual: Theme = {
  ...{ kinds: allKinds, faults: 10, twoClusters: 0.4, cancels: 0.15, webhooks: 0.35, longAnswers: 0.06 },
}
const themes: readonly Theme[] = [
  { ...usual, kinds: [], faults: 0, twoClusters: 0 },
  usual,
  {
    ...usual,
    ...{ kinds: ['shaky', 'shaky', 'shaky', 'full', 'slow', 'kill'], faults: 14 },
    ...{ twoClusters: 0, cancels: 0.6, longAnswers: 0.4 },
  },
  { ...usual, kinds: ['stall', 'stall', 'kill'], faults: 4, twoClusters: 1 },
  { ...usual, kinds: ['stall', 'freeze', 'store-clock', 'slow', 'kill'], twoClusters: 1 },
  { ...usual, kinds: ['full', 'shaky', 'shaky', 'receiver', 'clock'], faults: 14, webhooks: 0.95 },
]

export interface Fault {
  at: number
  kind: FaultKind
  /** How long it lasts. */
  ms: number
  /** From 0 to 1: which of several processes, and further choices. */
  which: number
}

export interface Plan {
  seed: number
  /** Clusters that use the store; only one at a time may lead. */
  clusters: number
  /** Jobs that a keeper sends at a time. */
  most: number
  /** Part of the answers that are long. */
  longAnswers: number
  /** Without faults nothing may be repeated. */
  isCalm: boolean
  requests: RequestPlan[]
  faults: Fault[]
}

export function drawPlan(seed: number): Plan {
  const random = stream(seed, 'plan')
  const theme = themes[seed % themes.length]!
  const isCalm = theme.faults === 0
  const clusters = random.next() < theme.twoClusters ? 2 : 1
  const most = 1 + random.below(8)
  const requests = Array.from({ length: 4 + random.below(14) }, (_, number) => request(number, theme, random))
  const faults = Array.from({ length: isCalm ? 0 : 1 + random.below(theme.faults) }, (): Fault => {
    const kind = theme.kinds[random.below(theme.kinds.length)]!
    return { at: random.next() * busyMs, kind, ms: 200 + random.exponential() * 4_000, which: random.next() }
  })
  sendBeforeStalls(requests, faults, random)
  return { seed, clusters, most, longAnswers: theme.longAnswers, isCalm, requests, faults }
}

/** Otherwise few processes would stall while they read a job. */
function sendBeforeStalls(requests: readonly RequestPlan[], faults: readonly Fault[], random: Random): void {
  const stalls = faults.filter(({ kind }) => kind === 'stall')
  if (stalls.length === 0) return
  for (const { at } of requests) {
    const stall = stalls[random.below(stalls.length)]!
    if (random.next() < 0.6) at[0] = stall.at + random.next() * 900
  }
}

function request(number: number, { cancels, webhooks }: Theme, random: Random): RequestPlan {
  const at = 500 + random.next() * (busyMs - 2_000)
  const isLarge = random.next() < 0.15
  const key = random.next() < 0.5 ? `k${number}` : undefined
  const later = () => at + random.next() ** 3 * 20_000
  const repeats = key === undefined ? 0 : random.below(4)
  return {
    ...{ number, client: `c${random.below(3)}`, isRepeatable: random.next() < 0.6 },
    ...{ bodyBytes: isLarge ? 3_000 : random.below(20), isStreamed: isLarge, waits: random.next() < 0.5 },
    at: [at, ...Array.from({ length: repeats }, later)],
    ...(key !== undefined && { key }),
    ...(key !== undefined && random.next() < 0.2 && { conflictAt: later() }),
    ...(random.next() < cancels && { cancelAt: at + random.next() ** 3 * 4_000 }),
    ...(random.next() < webhooks && { webhook: random.next() < 0.1 ? 'disables' : 'confirms' }),
  }
}

/** The body of a request: its length and its number can be told from it. */
export function bodyOf({ number, bodyBytes }: RequestPlan): Uint8Array {
  return new Uint8Array(bodyBytes).fill(number + 1)
}
