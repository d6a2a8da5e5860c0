/** Amounts of money as text, for tables and reports. */

import { count } from '../../lib/quantities.ts'
import type { Money } from '../../story/money.ts'
import { significant } from '../terminal/table.ts'

/** Three significant digits, and at least cents. */
export function price(value: number): string {
  if (value === 0) return '0'
  return Math.abs(value) >= 10 ? value.toFixed(2) : value.toPrecision(3)
}

/** Total cost, its parts, and the cost of a fleet fixed at its peak. */
export function moneyText(money: Money): string {
  const { workers, functions, spent, saved, fixedAtPeak, peakWorkers, workerHours } = money
  const hours = `${workerHours < 1 ? price(workerHours) : significant(workerHours)} worker-hours`
  const jobs = `functions ${price(functions)} for ${count(money.functionRequests, 'job')}`
  const away = money.functionRequests > 0 ? `, ${jobs}` : ''
  if (workers === 0) return `${hours}${away}; no price is set (--price-per-hour)`
  const peak = `${count(peakWorkers, 'worker')} all the time would have cost ${price(fixedAtPeak)}`
  const compared = saved >= 0 ? `${price(saved)} saved` : `${price(-saved)} more`
  return `${price(spent)} spent (${hours} ${price(workers)}${away}); ${peak}: ${compared}`
}
