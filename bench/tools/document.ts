/** The nine searches of the report on HillClimbing@Cloud, and what its authors measured (section 2.2 and Table 2). */

import type { SearchCase } from './child.ts'

interface Published extends SearchCase {
  seconds: number
  /** Instructions by ICountParallel, which counts by routine. */
  instructions: number
}

/** In the report's order. */
export const searches: readonly Published[] = [
  { strategy: 'BFS', side: 1024, seconds: 24.111, instructions: 440_766_210 },
  { strategy: 'DFS', side: 1024, seconds: 7.743, instructions: 127_938_277 },
  { strategy: 'ASTAR', side: 1024, seconds: 29.414, instructions: 500_178_823 },
  { strategy: 'BFS', side: 512, seconds: 7.523, instructions: 123_842_869 },
  { strategy: 'DFS', side: 512, seconds: 10.539, instructions: 164_279_699 },
  { strategy: 'ASTAR', side: 512, seconds: 7.987, instructions: 125_077_962 },
  { strategy: 'BFS', side: 256, seconds: 2.561, instructions: 30_464_053 },
  { strategy: 'DFS', side: 256, seconds: 3.273, instructions: 39_377_427 },
  { strategy: 'ASTAR', side: 256, seconds: 2.964, instructions: 31_309_514 },
]

/** Time with the tool ÷ time without. */
export const publishedOverheads = { routines: 1.04, blocks: 1.18, memory: 2.5, branches: 4.2 }

/**
 * Our landscape in place of RANDOM_HILL_1024x1024_2019-03-08_17-00-23.dat, which is not published. As on that map, the
 * depth-first search goes farthest in the area of 512 × 512, then in the whole map, and no search is trivial.
 */
export const landscape = { map: 663, mapSide: 1024 }
