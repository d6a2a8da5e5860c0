/** A scaler of one's own, simulated and live: node examples/library/own-scaler.ts */

import { createClient, createCluster, type ScalerFactory, simulate } from 'plimsoll'

/** Keeps twice the busy cores, and lets the fleet shrink only if it has been too large for a minute. */
export const twiceBusy: ScalerFactory = ({ min, max }) => {
  let tooLargeSince: number | undefined
  return {
    name: 'twice-busy',
    everyMs: 5_000,
    decide({ busyCores, waiting, coresEach, ready, booting }, now) {
      const wanted = Math.ceil((2 * (busyCores + waiting)) / Math.max(1, coresEach))
      const to = Math.max(min, Math.min(max, wanted))
      const reason = { code: 'twice-busy', text: `${busyCores} cores are busy and ${waiting} jobs wait` }
      if (to >= ready + booting) {
        tooLargeSince = undefined
        return { kind: 'scale', to, reason }
      }
      tooLargeSince ??= now
      return now - tooLargeSince < 60_000 ? { kind: 'hold', reason } : { kind: 'scale', to, reason }
    },
  }
}

if (import.meta.main) {
  const traffic = {
    workers: 20,
    cores: 2,
    load: 0.3,
    arrivals: 'bursty',
    jobs: 20_000,
    bootMs: 20_000,
  } as const
  const fixed = await simulate(traffic)
  const scaled = await simulate({ ...traffic, min: 1, scaler: twiceBusy })
  const saved = 1 - scaled.money.workerHours / fixed.money.workerHours
  console.log(`${(saved * 100).toFixed(0)} % fewer worker-hours than 20 workers all the time`)
  console.log(`slowdown ${scaled.meanSlowdown.toFixed(2)} instead of ${fixed.meanSlowdown.toFixed(2)}`)

  await using cluster = await createCluster({
    workloads: import.meta.resolve('./workloads/primes.ts'),
    ...{ min: 1, max: 2, scaler: twiceBusy },
  })
  await using client = createClient(cluster)
  await client.request('primes', { n: 100 })
  console.log(cluster.state().steps[0]?.text)
}
