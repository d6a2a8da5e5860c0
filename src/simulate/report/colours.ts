/** The palette of Okabe and Ito, safe for colour-blind readers, without the one colour too light for white paper. */

const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#3a3f47'] as const

export interface Look {
  colour: string
  style: 'solid' | 'dashed'
}

/** The look of the nth line; after the last colour they repeat, dashed. */
export function lookOf(index: number): Look {
  return {
    colour: colours[index % colours.length]!,
    style: index % (2 * colours.length) < colours.length ? 'solid' : 'dashed',
  }
}
