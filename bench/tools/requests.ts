/** The nine searches as requests to the workload, with the picture that they answer. */

import type { MeterCase } from '../meter/case.ts'
import { landscape, searches } from './document.ts'

const { map, mapSide } = landscape

export const cases: MeterCase[] = searches.map(({ strategy, side }) => {
  const area = { x0: 0, y0: 0, x1: side - 1, y1: side - 1 }
  return { params: { map, width: mapSide, height: mapSide, ...area, xS: side / 2, yS: side / 2, strategy } }
})
