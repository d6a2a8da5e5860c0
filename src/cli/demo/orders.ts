/** Compares the orders in the shop's database with the answers to purchases. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Sent } from './drive.ts'

export interface Orders {
  placed: number
  /** Placed by purchases that were answered with an unknown outcome. */
  placedUnknown: number
}

interface Order {
  job: string
  customer: string
}

/** Marks a purchase as wrong if its answer does not match the number of its orders. */
export function checkOrders(dataDir: string, sent: readonly Sent[]): Orders {
  const byCustomer = Map.groupBy(ordersIn(dataDir), ({ customer }) => customer)
  let placedUnknown = 0
  for (const entry of sent) {
    if (entry.request.kind !== 'purchase') continue
    const customer = String(entry.request.params.customer)
    const found = byCustomer.get(customer) ?? []
    const least = entry.ending === 'right' ? 1 : 0
    const most = entry.ending === 'refused' || entry.ending === 'dropped' ? 0 : 1
    if (entry.ending === 'unknown') placedUnknown += found.length
    const otherJob = entry.ending === 'right' && found.some(({ job }) => job !== entry.job)
    if (found.length >= least && found.length <= most && !otherJob) continue
    entry.trouble = `answered ${entry.ending}, but orders of ${customer}: ${found.length}`
    if (entry.ending !== 'lost') entry.ending = 'wrong'
  }
  return { placed: byCustomer.values().reduce((sum, list) => sum + list.length, 0), placedUnknown }
}

function ordersIn(dataDir: string): Order[] {
  const file = join(dataDir, 'shop.db')
  if (!existsSync(file)) return []
  const db = new DatabaseSync(file)
  try {
    return db.prepare('SELECT job, customer FROM orders').all() as unknown as Order[]
  } finally {
    db.close()
  }
}
