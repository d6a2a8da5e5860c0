/** Plots as SVG: two axes, a grid and lines. */

import type { Axis } from './axis.ts'
import { escaped } from './page.ts'

export interface Frame {
  x: Axis
  y: Axis
  width?: number
  height?: number
  /** A description for screen readers. */
  label: string
}

export interface Line {
  colour: string
  /** For lines that fluctuate strongly. */
  thin?: boolean | undefined
  points: readonly (readonly [x: number, y: number])[]
  /** `dashed` and `dotted` distinguish lines of the same colour. */
  style?: 'solid' | 'dashed' | 'dotted' | undefined
  /** True: a value holds until the next. */
  steps?: boolean | undefined
}

/** From values to coordinates in the picture. */
export interface Places {
  x(value: number): string
  y(value: number): string
}

const margin = { right: 16, top: 10, bottom: 44 }
/** Approximate, in the font of the page. */
const characterWidth = 6.8
const dashes = { solid: '', dashed: ' stroke-dasharray="6 4"', dotted: ' stroke-dasharray="1.5 4"' }

/** `draw` returns the SVG elements on top of the grid. */
export function plot(
  { x, y, width = 560, height = 330, label }: Frame,
  draw: (at: Places) => string,
): string {
  const left = 34 + characterWidth * Math.max(3, ...y.ticks.map((tick) => tick.label.length))
  const right = width - margin.right
  const bottom = height - margin.bottom
  const places = {
    x: (value: number) => (left + x.part(value) * (right - left)).toFixed(1),
    y: (value: number) => (bottom - y.part(value) * (bottom - margin.top)).toFixed(1),
  }
  const grid = [
    ...x.ticks.map(({ value }) => `M${places.x(value)} ${margin.top}V${bottom}`),
    ...y.ticks.map(({ value }) => `M${left} ${places.y(value)}H${right}`),
  ].join('')
  const labels = [
    ...x.ticks.map((tick) => text(places.x(tick.value), bottom + 17, 'middle', tick.label)),
    ...y.ticks.map((tick) => text(left - 8, Number(places.y(tick.value)) + 4, 'end', tick.label)),
    text((left + right) / 2, height - 8, 'middle', x.title, 'title'),
  ].join('')
  const middle = (margin.top + bottom) / 2
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(label)}">
<path class="grid" d="${grid}"/>
<path class="frame" d="M${left} ${margin.top}V${bottom}H${right}"/>
${labels}<text class="title" transform="translate(14 ${middle}) rotate(-90)" text-anchor="middle">${escaped(y.title)}</text>
${draw(places)}
</svg>`
}

/** A line sample for legends. */
export function sample({ colour, style }: Pick<Line, 'colour' | 'style'>): string {
  return `<svg viewBox="0 0 26 10" aria-hidden="true"><path class="line" stroke="${colour}"${dashes[style ?? 'solid']} d="M0 5H26"/></svg>`
}

/** The first line is drawn on top. */
export function lines(at: Places, all: readonly Line[]): string {
  return all
    .filter(({ points }) => points.length > 0)
    .map(
      ({ colour, points, style = 'solid', steps = false, thin = false }) =>
        `<path class="${thin ? 'thin line' : 'line'}" stroke="${colour}"${dashes[style]} d="${path(at, points, steps)}"/>`,
    )
    .reverse()
    .join('\n')
}

function path(at: Places, points: Line['points'], steps: boolean): string {
  let d = ''
  let last = ''
  for (const [x, y] of points) {
    const here = `${at.x(x)} ${at.y(y)}`
    if (here === last) continue
    d += d === '' ? `M${here}` : steps ? `H${at.x(x)}V${at.y(y)}` : `L${here}`
    last = here
  }
  return d
}

function text(x: number | string, y: number, anchor: string, words: string, kind = ''): string {
  const as = kind && ` class="${kind}"`
  return words === '' ? '' : `<text${as} x="${x}" y="${y}" text-anchor="${anchor}">${escaped(words)}</text>\n`
}
