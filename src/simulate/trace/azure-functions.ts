/** Invocations of functions with their durations, as in Azure's public dataset of 2019. */

import { Numbers } from '../numbers.ts'
import { tableFormat } from './table.ts'

/** The resolution of the dataset. A duration of 0 counts as this, since a slowdown needs a positive one. */
const leastMs = 0.1

export const azureFunctions = tableFormat('azure-functions', ['t_ms', 'fn', 'trigger', 'duration_ms'], () => {
  const atMs = new Numbers()
  const seconds = new Numbers()
  let raised = 0
  return {
    row(row) {
      const at = row.number(0)
      if (atMs.length > 0 && at < atMs.at(atMs.length - 1)) throw row.wrong('no earlier than the line before')
      const durationMs = row.number(3)
      if (durationMs < leastMs) raised++
      atMs.push(at)
      seconds.push(Math.max(leastMs, durationMs) / 1000)
    },
    end: () => ({
      dated: false,
      recorded: { kind: 'jobs', atMs: atMs.view(), seconds: seconds.view() },
      notes:
        raised === 0
          ? []
          : [
              `${raised.toLocaleString('en-US')} of ${atMs.length.toLocaleString('en-US')} durations below ${leastMs} ms count as ${leastMs} ms.`,
            ],
    }),
  }
})
