/** Requests of shop: pages of the catalogue. SQLite does the work, which is charged by rows and bytes. */

import type { MeterCase } from './case.ts'

const sizes = [1, 2, 5, 10, 20, 50, 100]

export const cases: MeterCase[] = [
  ...sizes.map((pageSize) => ({ params: { action: 'browse', pageSize } })),
  ...sizes.map((pageSize) => ({ params: { action: 'browse', pageSize, search: 'a', sort: 'price' } })),
  ...sizes.map((pageSize) => ({
    params: { action: 'browse', pageSize, page: 20, sort: 'price-descending' },
  })),
]
