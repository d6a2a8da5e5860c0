/** A page with one plot per workload: predicted against actual work, with intervals. */
import { significant } from '../../src/cli/terminal/table.ts'
import { logAxis, powerOfTen, wholeDecades } from '../../src/simulate/report/axis.ts'
import { plot } from '../../src/simulate/report/chart.ts'
import { escaped, page } from '../../src/simulate/report/page.ts'
import { type Figures, figuresOf } from './figures.ts'
import type { Answer } from './trial.ts'

/** More points would overlap. */
const mostPoints = 200

const style = `
  main { grid-template-columns: repeat(auto-fill, minmax(min(100%, 380px), 1fr)); gap: 1.5rem 1rem }
  figcaption { font-weight: 600; font-size: 15px; color: inherit }
  figcaption span { font-weight: 400; color: #4a5767; display: block; font-size: 13px }
  .even { stroke: #8a97a6; stroke-dasharray: 4 3 }
  .in { stroke: #2f7fc1; fill: #2f7fc1 }
  .out { stroke: #c8442c; fill: #c8442c }
  .bar { stroke-opacity: .35; stroke-width: 1.2 }
  .dot { stroke: none; fill-opacity: .8 }`

export function reportOf(answers: ReadonlyMap<string, readonly Answer[]>): string {
  const panels = [...answers].map(([workload, all]) => panel(workload, all)).join('\n')
  return page({
    title: 'Plimsoll: predicted and actual work',
    style,
    body: `<h1>Predicted and actual work</h1>
<p>Requests that the estimator had not seen, after it had learned 600 others. Each dot is a request, the bar its 90 %
interval; on the dashed line prediction and cost are equal. Where the bar does not reach that line, in red, the cost
lay outside of the interval. Work in metered units, both axes logarithmic.</p>
<main>
${panels}
</main>`,
  })
}

function panel(workload: string, all: readonly Answer[]): string {
  const every = Math.ceil(all.length / mostPoints)
  const shown = all.filter((_, i) => i % every === 0)
  const values = shown.flatMap(({ actual, value }) => [actual, value])
  const [low, high] = wholeDecades(
    values.reduce((a, b) => Math.min(a, b)),
    values.reduce((a, b) => Math.max(a, b)),
  )
  const picture = plot(
    {
      x: logAxis('actual', low, high, powerOfTen),
      y: logAxis('predicted', low, high, powerOfTen),
      width: 380,
      height: 320,
      label: `${workload}: predicted against actual work`,
    },
    ({ x, y }) => {
      const dots = shown.map((answer) => {
        const { actual, value } = answer
        const kind = answer.low <= actual && actual <= answer.high ? 'in' : 'out'
        return `<path class="${kind} bar" d="M${x(actual)} ${y(answer.low)}V${y(answer.high)}"/><circle class="${kind} dot" cx="${x(actual)}" cy="${y(value)}" r="2.4"/>`
      })
      return `<path class="even" d="M${x(low)} ${y(low)}L${x(high)} ${y(high)}"/>\n${dots.join('\n')}`
    },
  )
  return `<figure>
<figcaption>${escaped(workload)}<span>${escaped(words(figuresOf(all)))}</span></figcaption>
${picture}
</figure>`
}

function words({ median, p95, coverage }: Figures): string {
  return `off by × ${significant(median)} (median), × ${significant(p95)} (p95); ${(coverage * 100).toFixed(0)} % in the interval`
}
