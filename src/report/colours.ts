/** Colours that people with any colour vision can tell apart (Okabe and Ito), without the one too light for white paper. */

const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#3a3f47'] as const

/** For the nth of several things; beyond the last they begin anew. */
export function colourOf(index: number): string {
  return colours[index % colours.length]!
}
