/** Which answers of the cluster are the answer of a kept job, and after which it is sent again. */

/** The cluster was not able to run the job now, and no attempt of it has had an effect. */
const passing: ReadonlySet<string> = new Set([
  ...[
    'queue-full',
    'dropped',
    'rate-limit',
    'waited',
    'retries',
    'unready',
    'overloaded',
    'no-brain',
    'stopping',
  ],
  ...['too-many-requests', 'bodies-full', 'body-not-stored', 'params-queue-full', 'too-slow'],
])

export function isPassing(refusal: string): boolean {
  return passing.has(refusal)
}

const [firstMs, mostMs] = [100, 30_000]

/** The wait before the next try: what the cluster said, or longer with each try. `random`: from 0 to 1, spreads them. */
export function retryDelayMs(tries: number, retryAfterS: number | undefined, random: number): number {
  const backoff = Math.min(mostMs, firstMs * 2 ** Math.min(tries, 20))
  const told = Math.min(mostMs, (retryAfterS ?? 0) * 1000)
  return Math.max(backoff, told) * (0.75 + random / 2)
}
