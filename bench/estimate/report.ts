/** A page with one plot for each workload: what was predicted against what it took, with the intervals. */
import { significant } from '../../src/cli/table.ts'
import { type Figures, figuresOf } from './figures.ts'
import type { Answer } from './trial.ts'

const [width, height, margin] = [380, 320, { left: 52, right: 12, top: 12, bottom: 40 }]
/** More would hide each other. */
const mostPoints = 200

export function reportOf(answers: ReadonlyMap<string, readonly Answer[]>): string {
  const panels = [...answers].map(([workload, all]) => panel(workload, all)).join('\n')
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Plimsoll: predicted and actual work</title>
<style>
  body { font: 15px/1.5 system-ui, sans-serif; color: #1c2530; background: #fff; margin: 2rem auto; max-width: 1260px; padding: 0 1rem }
  h1 { font-size: 1.4rem; margin: 0 }
  p { max-width: 75ch; color: #4a5767 }
  main { display: grid; grid-template-columns: repeat(auto-fill, minmax(380px, 1fr)); gap: 1.5rem 1rem }
  figure { margin: 0 }
  figcaption { font-weight: 600 }
  figcaption span { font-weight: 400; color: #4a5767; display: block; font-size: 13px }
  svg text { font: 11px system-ui, sans-serif; fill: #4a5767 }
  .grid { stroke: #e4e8ed }
  .even { stroke: #8a97a6; stroke-dasharray: 4 3 }
  .in { stroke: #2f7fc1; fill: #2f7fc1 }
  .out { stroke: #c8442c; fill: #c8442c }
  .bar { stroke-opacity: .35; stroke-width: 1.2 }
  .dot { stroke: none; fill-opacity: .8 }
</style>
<h1>Predicted and actual work</h1>
<p>Requests that the estimator had not seen, after it had learned 600 others. Each dot is a request, the bar its 90 %
interval; on the dashed line prediction and cost are equal. Where the bar does not reach that line, in red, the cost
lay outside of the interval. Work in metered units, both axes logarithmic.</p>
<main>
${panels}
</main>
</html>
`
}

function panel(workload: string, all: readonly Answer[]): string {
  const every = Math.ceil(all.length / mostPoints)
  const shown = all.filter((_, i) => i % every === 0)
  const values = shown.flatMap(({ actual, value }) => [actual, value])
  const first = Math.floor(Math.log10(values.reduce((a, b) => Math.min(a, b))))
  const last = Math.max(first + 1, Math.ceil(Math.log10(values.reduce((a, b) => Math.max(a, b)))))
  const part = (value: number) =>
    (Math.min(last, Math.max(first, Math.log10(value))) - first) / (last - first)
  const x = (value: number) => (margin.left + part(value) * (width - margin.left - margin.right)).toFixed(1)
  const y = (value: number) =>
    (height - margin.bottom - part(value) * (height - margin.top - margin.bottom)).toFixed(1)
  const [low, high] = [10 ** first, 10 ** last]
  // With many decades not every one has a label.
  const step = Math.ceil((last - first) / 7)
  const decades = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i))
  const grid = decades
    .map((decade, i) => {
      const label = i % step === 0 ? powerOf(first + i) : ''
      return `<path class="grid" d="M${x(decade)} ${y(low)}V${y(high)}M${x(low)} ${y(decade)}H${x(high)}"/>
<text x="${x(decade)}" y="${height - margin.bottom + 16}" text-anchor="middle">${label}</text>
<text x="${margin.left - 6}" y="${Number(y(decade)) + 4}" text-anchor="end">${label}</text>`
    })
    .join('\n')
  const dots = shown
    .map((answer) => {
      const { actual, value } = answer
      const kind = answer.low <= actual && actual <= answer.high ? 'in' : 'out'
      return `<path class="${kind} bar" d="M${x(actual)} ${y(answer.low)}V${y(answer.high)}"/><circle class="${kind} dot" cx="${x(actual)}" cy="${y(value)}" r="2.4"/>`
    })
    .join('\n')
  return `<figure>
<figcaption>${workload}<span>${words(figuresOf(all))}</span></figcaption>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${workload}: predicted against actual work">
${grid}
<path class="even" d="M${x(low)} ${y(low)}L${x(high)} ${y(high)}"/>
${dots}
<text x="${(margin.left + width - margin.right) / 2}" y="${height - 6}" text-anchor="middle">actual</text>
<text transform="translate(12 ${(height - margin.bottom + margin.top) / 2}) rotate(-90)" text-anchor="middle">predicted</text>
</svg>
</figure>`
}

function words({ median, p95, coverage }: Figures): string {
  return `off by × ${significant(median)} (median), × ${significant(p95)} (p95); ${(coverage * 100).toFixed(0)} % in the interval`
}

function powerOf(exponent: number): string {
  const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹'
  return `10${[...String(exponent)].map((digit) => (digit === '-' ? '⁻' : digits[Number(digit)])).join('')}`
}
