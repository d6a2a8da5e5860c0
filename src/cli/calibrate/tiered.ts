/**
 * The tiered system's experiments: the rate at which one server serves the shop gives the servers of each hour, and the
 * queue that one server finishes before its requests are dropped.
 */

import { tierDefaults } from '../../systems/tiered/tiers.ts'
import { type Experiment, median, rounded } from './experiment.ts'
import type { Asked } from './lab.ts'

/** The day that the preset's table describes: for each hour the share of the requests of the busiest one. */
const busiest = Math.max(...tierDefaults.hours)
const day = tierDefaults.hours.map((servers) => servers / busiest)
/** Products of the shop that may be bought. */
const productCount = 1000
const bursts = { quick: 4, full: 12 }
const sizes = [8, 16, 32]
/** One in this number of requests is a purchase. */
const perPurchase = 10

/** Different requests, so that none is answered from the cache. */
function customers(count: number, from: number): Asked[] {
  return Array.from({ length: count }, (_, i) => ({
    workload: 'shop',
    params:
      i % perPurchase === perPurchase - 1
        ? { action: 'purchase', productId: 1 + ((from + i) % productCount), customer: 'calibration' }
        : { action: 'browse', minPriceCents: from + i, sort: 'price' },
  }))
}

export const tiered: Experiment = {
  steps: (quick) => sizes.length * (quick ? bursts.quick : bursts.full),
  async run(lab, { quick, step, peakPerSecond }) {
    const times = quick ? bursts.quick : bursts.full
    let sent = 0
    await lab.occupy(customers(sizes.at(-1)!, 0)).ended
    const found: [size: number, ms: number][] = []
    for (const size of sizes) {
      const ms: number[] = []
      for (let time = 0; time < times; time++) {
        step(`${size} customers at once on one server`)
        sent += size
        const began = performance.now()
        await lab.occupy(customers(size, 1000 * sent)).ended
        ms.push(performance.now() - began)
      }
      found.push([size, median(ms)])
    }
    const [size, ms] = found.at(-1)!
    const perSecond = (size / ms) * 1000
    const dropMs = tierDefaults.dropAfterMs.browse!
    const how = `one server took ${Math.round(ms)} ms for ${size} requests`
    return {
      findings: [
        {
          constant: 'hours',
          value: day.map((share) => Math.max(1, Math.ceil((share * peakPerSecond) / perSecond))),
          how: `servers for ${peakPerSecond} requests per second in the busiest hour (--peak), and the preset's day: ${how}`,
        },
        {
          constant: 'perServer',
          value: rounded((perSecond * dropMs) / 1000),
          how: `queued requests that one server finishes within ${dropMs} ms, before they are dropped: ${how}`,
        },
      ],
      figures: [
        {
          ...{ name: 'tiered-bursts', title: 'Customers at once on one server' },
          ...{ x: 'requests', y: 'time until the last answer (ms)' },
          series: [{ label: 'shop', points: found }],
        },
      ],
    }
  },
}
