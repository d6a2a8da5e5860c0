/** The clock of a live cluster, in milliseconds since 1970. It never goes back; event logs keep three decimals. */
export function now(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000) / 1000
}
