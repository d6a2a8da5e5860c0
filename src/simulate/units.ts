/** In simulations one unit of work is a microsecond of a nominal core. */
export const unitsPerSecond = 1_000_000
