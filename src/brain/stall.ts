/** What the detection of stalled attempts remembers of one. */

/** What the attempt's worker had reported when the attempt last had done enough, and when that report came. */
export interface Watch {
  at: number
  activeMs: number
  cpuMs: number
  done: number
}

/** An attempt that has done too little since then. */
export interface Stall {
  /** How long it was active meanwhile, and the work that it did. */
  ms: number
  work: number
  /** What it did of what it should have done. */
  percent: number
}
