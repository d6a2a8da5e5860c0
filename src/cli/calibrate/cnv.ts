/** CNV's experiment: Gray-Scott with counters in its loops, which cost too much to be used for every request. */

import { type Experiment, rounded } from './experiment.ts'
import type { Asked } from './lab.ts'

const reaction = (size: number, iterations: number): Asked => ({
  workload: 'grayscott',
  params: { size, iterations },
})
const iterations = { quick: [20, 120], full: [100, 1100] }
const sizes = { quick: [64, 128], full: [64, 128, 256] }

export const cnv: Experiment = {
  steps: (quick) => (quick ? sizes.quick : sizes.full).length * 2,
  meter(usual) {
    if (usual === 'off') return usual
    const { steps, ...counted } = usual
    return counted
  },
  async run(lab, { quick, step }) {
    const [few, many] = (quick ? iterations.quick : iterations.full) as [number, number]
    const found: { cells: number; instructions: number; accesses: number }[] = []
    for (const size of quick ? sizes.quick : sizes.full) {
      const amounts: Record<string, number>[] = []
      for (const count of [few, many]) {
        step(`Gray-Scott of ${size}², ${count} iterations`)
        amounts.push((await lab.measure(reaction(size, count))).tally as Record<string, number>)
      }
      // The difference leaves out the start and the drawing.
      const more = (name: string) => (amounts[1]![name] ?? 0) - (amounts[0]![name] ?? 0)
      const cells = (many - few) * size ** 2
      found.push({ cells, instructions: more('instCount'), accesses: more('totalAccesses') })
    }
    const cells = found.reduce((sum, each) => sum + each.cells, 0)
    const per = (name: 'instructions' | 'accesses') =>
      rounded(found.reduce((sum, each) => sum + each[name], 0) / cells)
    const how = `counters in the loops, ${cells} cells of ${found.length} sizes`
    return {
      findings: [
        { constant: 'cellInstructions', value: per('instructions'), how: `instructions: ${how}` },
        { constant: 'cellAccesses', value: per('accesses'), how: `loads, stores and allocations: ${how}` },
      ],
      figures: [
        {
          ...{
            name: 'cnv-cells',
            title: 'Gray-Scott, counted in its loops',
            x: 'cells',
            y: 'amount',
            log: true,
          },
          series: (['instructions', 'accesses'] as const).map((name) => ({
            label: name,
            points: found.map((each): [number, number] => [each.cells, each[name]]),
          })),
        },
      ],
    }
  },
}
