/** Requests per minute, as of the web site of the 1998 World Cup, without sizes or exact times. */

import { Numbers } from '../numbers.ts'
import { tableFormat } from './table.ts'

const minuteMs = 60_000

export const worldCup = tableFormat('world-cup', ['period', 'count'], () => {
  const atMs = new Numbers()
  const counts = new Numbers()
  return {
    row(row) {
      const at = row.date(0)
      if (atMs.length > 0 && at < atMs.at(atMs.length - 1) + minuteMs)
        throw row.wrong('a later minute than the line before')
      atMs.push(at)
      counts.push(row.number(1, true))
    },
    end: () => ({
      dated: true,
      recorded: { kind: 'counts', atMs: atMs.view(), counts: counts.view(), stretchMs: minuteMs },
      notes: ['Counts per minute were recorded; the times within a minute are drawn from the seed.'],
    }),
  }
})
