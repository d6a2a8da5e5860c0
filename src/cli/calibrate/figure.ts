/** A figure as a standalone SVG file. */

import {
  type Axis,
  linearAxis,
  logAxis,
  plain,
  powerOfTen,
  wholeDecades,
} from '../../simulate/report/axis.ts'
import { lines, plot } from '../../simulate/report/chart.ts'
import { lookOf } from '../../simulate/report/colours.ts'
import { escaped } from '../../simulate/report/page.ts'
import type { Figure } from './experiment.ts'

const style = `text { font: 12px system-ui, sans-serif; fill: #4a5767 }
  .title { fill: #1c2530 }
  .grid { stroke: #e4e8ed; fill: none }
  .frame { stroke: #8a97a6; fill: none }
  .line { fill: none; stroke-width: 2; stroke-linejoin: round }`

const [width, height, head] = [560, 330, 44]

export function figureSvg({ title, x, y, log = false, series }: Figure): string {
  const all = series.flatMap(({ points }) => points)
  const axis = (name: string, values: number[]): Axis => {
    const [low, high] = [Math.min(...values), Math.max(...values)]
    if (log) return logAxis(name, ...wholeDecades(Math.max(low, 1e-9), Math.max(high, 1e-9)), powerOfTen)
    return linearAxis(name, 0, high, high >= 10_000 ? (value) => value.toExponential(1) : plain)
  }
  const frame = {
    x: axis(
      x,
      all.map(([at]) => at),
    ),
    y: axis(
      y,
      all.map(([, value]) => value),
    ),
  }
  const chart = plot({ ...frame, width, height, label: title }, (at) => {
    const drawn = series.map(({ points }, index) => ({ ...lookOf(index), points }))
    const dots = series.flatMap(({ points }, index) =>
      points.map(
        ([px, py]) => `<circle cx="${at.x(px)}" cy="${at.y(py)}" r="3" fill="${lookOf(index).colour}"/>`,
      ),
    )
    return `${lines(at, drawn)}${dots.join('')}`
  })
  const legend = series.map(
    ({ label }, index) =>
      `<text x="${60 + index * 150}" y="36"><tspan fill="${lookOf(index).colour}">●</tspan> ${escaped(label)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + head}"><title>${escaped(title)}</title><style>${style}</style><rect width="100%" height="100%" fill="#fff"/><text class="title" x="60" y="18">${escaped(title)}</text>${legend.join('')}<g transform="translate(0,${head})">${inner(chart)}</g></svg>
`
}

/** Without the element that makes it a picture of its own. */
function inner(svg: string): string {
  return svg.replace(/^<svg[^>]*>/, '').replace(/<\/svg>\s*$/, '')
}
