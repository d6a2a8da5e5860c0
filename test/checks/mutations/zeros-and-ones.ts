/**
 * Constants of the documents among the numbers 0 and 1 in functions and classes. All others there count, index, or
 * compare with nothing.
 */

interface Selection {
  file: RegExp
  /** The line with the number. */
  source: RegExp
  why: string
}

export const selections: readonly Selection[] = [
  {
    file: /cloudprime\/classes\.ts$/,
    source: /counts\.(max|intermediate) === 0/,
    why: 'CP-9: no request of the other class',
  },
  { file: /cloudprime\/grace\.ts$/, source: /^this\.#counted = 0/, why: 'CP-11: the count restarts at 0' },
  {
    file: /cloudprime\/on-misfit\.ts$/,
    source: /^this\.#times\[worker\.id\] = /,
    why: 'CP-15: the counter rises by one each minute, from 0',
  },
  {
    file: /tiered\/queue-length\.ts$/,
    source: /^const servers = 1 \+|front \+= front - 1/,
    why: 'TI-4, TI-5: the coordinator is one of the servers, and one of the fronts',
  },
  { file: /tiered\/tier-roles\.ts$/, source: /^const left = /, why: 'TI-7: nodes without the one that asks' },
  { file: /tiered\/self-ending\.ts$/, source: /^this\.#late = gapMs/, why: 'TI-6: gaps in a row' },
  {
    file: /cnv\/cpu-ema\.ts$/,
    source: /^this\.(above|below) = |jobs === 0|newPart \* mean|view\.waitingWork\(\)|view\.waiting > 0/,
    why: 'CN-10, CN-11: ticks in a row, nothing active, the smoothed CPU, a queue, 1 or 2 workers',
  },
  { file: /cnv\/pack-spread\.ts$/, source: /jobs\.length === 0 \|\|/, why: 'CN-8: an idle worker' },
  {
    file: /hillclimbing\/average-work\.ts$/,
    source: /cpu === 0|jobs === 0|have > 1|count: 1/,
    why: 'HC-7, HC-8: exactly 0 % CPU, runs nothing, the last worker, one worker launched',
  },
  {
    file: /hillclimbing\/least-work-capped\.ts$/,
    source: /jobs\.length === 0 \|\|/,
    why: 'HC-5: a worker that runs nothing',
  },
  {
    file: /ecowork\/least-work-guarded\.ts$/,
    source: /jobs === 0|jobs \+ 1/,
    why: 'EW-6: within the limits with this request; outside a scale-out no limit',
  },
  { file: /ecowork\/cpu-step\.ts$/, source: /const isDone = /, why: 'EW-7: a batch ends with work 0' },
]

export function isDocumented({ file, source }: { file: string; source: string }): boolean {
  return selections.some((each) => each.file.test(file) && each.source.test(source))
}
