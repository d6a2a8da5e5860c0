/** The numbers that are not constants of a system. Each entry says why. */

interface Exemption {
  file?: RegExp
  source?: RegExp
  why: string
}

export const exemptions: readonly Exemption[] = [
  { file: /\/reasons\.ts$/, why: 'texts' },
  { source: /(above|below) \* 100|emaPercent|this\.#mostWork\) \* 100/, why: 'percentages in texts' },
  { file: /\/rows\.ts$/, why: 'the layout of identifiers in rows' },
  { source: /^trial:/, why: 'how a demonstration is scaled; it changes no decision' },
  {
    file: /(tiered|cnv|ecowork)\/preset\.ts$/,
    source: /^machine:/,
    why: 'simulated machines that the documents do not describe',
  },
  {
    source:
      /\b(keys|rows) = \d|\bmost(Keys|Tables|Noted|Numbers|Marks|Axes|Rows) =|2 \* this\.#keys|1e150|cacheBytes:/,
    why: 'bounds of memory and of the range of numbers',
  },
  { file: /class-limits\.ts$/, source: /\? 2 : 1$/, why: 'places in an order' },
  { source: /code: 'rank-known'/, why: 'the interval of quotes, which the document does not have' },
  { source: /grainMs = /, why: 'the rounding of timers' },
  { file: /tiered\/preset\.ts$/, source: /^min: /, why: 'its tiers have minimums of their own' },
  { source: /attempts: (1_000_000|1000)\b/, why: 'stands for no limit' },
  {
    file: /cnv\/log-(columns|polynomial)\.ts$/,
    why: 'the numerics of the regression, whose accuracy is tested',
  },
]

/** `source`: the line with the number. */
export function exempt({ file, source }: { file: string; source: string }): boolean {
  return exemptions.some((each) => (each.file?.test(file) ?? true) && (each.source?.test(source) ?? true))
}
