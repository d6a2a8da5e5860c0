/** Requests of hillclimb from about a millisecond to almost a second: strategies, reaches, starts, uploads, both outputs. */

import { encode } from 'fast-png'
import { heightsOf, landOf } from '../../workloads/hillclimb/terrain.ts'
import type { MeterCase } from './case.ts'

/** An uploaded map: grey, 8 bits. */
function upload(map: number, side: number): () => Uint8Array {
  return () => {
    const land = landOf(map, side, side)
    const row = new Uint16Array(side)
    const data = new Uint8Array(side * side)
    for (let y = 0; y < side; y++) {
      heightsOf(land, 0, y, 1, row)
      for (let x = 0; x < side; x++) data[y * side + x] = row[x]! >> 8
    }
    return encode({ width: side, height: side, data, channels: 1 })
  }
}

const square = (side: number, x: number, y: number) => ({
  width: side,
  height: side,
  xS: Math.floor(side * x),
  yS: Math.floor(side * y),
})

export const cases: MeterCase[] = [
  { params: { map: 1, ...square(180, 0.5, 0.5), strategy: 'BFS' } },
  { params: { map: 2, ...square(256, 0.1, 0.8), strategy: 'DFS', output: 'json' } },
  { params: { map: 3, ...square(128, 0.1, 0.1), strategy: 'ASTAR', output: 'json' } },
  { params: { map: 4, ...square(256, 0.9, 0.1), strategy: 'ASTAR' } },
  { params: { ...square(300, 0.1, 0.9), strategy: 'DFS' }, body: upload(5, 300) },
  { params: { map: 6, ...square(512, 0.2, 0.2), strategy: 'BFS', output: 'json', reach: 2 } },
  { params: { map: 7, ...square(512, 0.5, 0.5), strategy: 'DFS' } },
  { params: { map: 2, ...square(384, 0.1, 0.8), strategy: 'ASTAR', output: 'json' } },
  { params: { ...square(512, 0.8, 0.8), strategy: 'ASTAR' }, body: upload(8, 512) },
  { params: { map: 9, ...square(1024, 0.5, 0.1), strategy: 'BFS' } },
  { params: { map: 10, ...square(1024, 0.1, 0.1), strategy: 'DFS', reach: 3 } },
  { params: { map: 2, ...square(700, 0.1, 0.8), strategy: 'ASTAR', reach: 1 } },
  { params: { map: 11, ...square(1500, 0.9, 0.9), strategy: 'DFS', reach: 2, output: 'json' } },
  { params: { ...square(1024, 0.2, 0.5), strategy: 'BFS', reach: 4 }, body: upload(12, 1024) },
  { params: { map: 3, ...square(1024, 0.1, 0.8), strategy: 'ASTAR', output: 'json' } },
  { params: { map: 2, ...square(2048, 0.1, 0.1), strategy: 'BFS', reach: 3 } },
  { params: { map: 2, ...square(512, 0.1, 0.8), strategy: 'ASTAR', reach: 3, grade: 0.5 } },
  { params: { map: 2, ...square(2048, 0.1, 0.8), strategy: 'DFS', reach: 6 } },
  { params: { ...square(1024, 0.9, 0.1), strategy: 'ASTAR', reach: 2 }, body: upload(13, 1024) },
  { params: { map: 2, ...square(2048, 0.9, 0.1), strategy: 'BFS', reach: 6, output: 'json' } },
  { params: { map: 2, ...square(2048, 0.1, 0.8), strategy: 'ASTAR' } },
  { params: { map: 2, ...square(1024, 0.1, 0.8), strategy: 'ASTAR', reach: 3, grade: 0.5 } },
  { params: { map: 3, ...square(1024, 0.1, 0.8), strategy: 'ASTAR', reach: 5, output: 'json' } },
  { params: { map: 3, ...square(700, 0.1, 0.8), strategy: 'ASTAR', reach: 4, grade: 2 } },
  { params: { map: 2, ...square(1600, 0.1, 0.8), strategy: 'ASTAR', reach: 3 } },
]
