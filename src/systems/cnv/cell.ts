/** The cost of Gray-Scott. */

/** Amounts for each cell of Gray-Scott in each iteration, which its authors found by profiling. */
export const cnvConstants = { cellInstructions: 274, cellAccesses: 62 }
