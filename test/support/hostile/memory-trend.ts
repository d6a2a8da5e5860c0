/** Whether the memory of a process grows: a line through the troughs between garbage collections. */

export interface Sample {
  atMs: number
  mb: number
}

export interface Trend {
  /** Growth over the whole period by the line. */
  growthMb: number
  /** Two standard deviations of the troughs around the line. */
  noiseMb: number
  firstMb: number
  lastMb: number
  troughsMb: number[]
}

/** A heap takes its time to settle; growth below this is not a leak in ten minutes. */
const leastMb = 8
const windows = 12

/** Undefined: too few samples. */
export function trendOf(samples: readonly Sample[]): Trend | undefined {
  const troughs = troughsOf(samples)
  if (troughs.length < 4) return undefined
  const meanAt = mean(troughs.map(({ atMs }) => atMs))
  const meanMb = mean(troughs.map(({ mb }) => mb))
  const spread = troughs.reduce((sum, { atMs }) => sum + (atMs - meanAt) ** 2, 0)
  const slope = troughs.reduce((sum, { atMs, mb }) => sum + (atMs - meanAt) * (mb - meanMb), 0) / spread
  const rest = troughs.reduce((sum, { atMs, mb }) => sum + (mb - meanMb - slope * (atMs - meanAt)) ** 2, 0)
  const [first, last] = [troughs[0]!, troughs.at(-1)!]
  return {
    growthMb: slope * (last.atMs - first.atMs),
    noiseMb: 2 * Math.sqrt(rest / (troughs.length - 2)),
    firstMb: first.mb,
    lastMb: last.mb,
    troughsMb: troughs.map(({ mb }) => Math.round(mb)),
  }
}

export function isFlat({ growthMb, noiseMb }: Trend): boolean {
  return growthMb <= Math.max(noiseMb, leastMb)
}

/** The lowest sample of each of a dozen windows. */
function troughsOf(samples: readonly Sample[]): Sample[] {
  if (samples.length < windows) return []
  const first = samples[0]!.atMs
  const stepMs = (samples.at(-1)!.atMs - first) / windows
  return Array.from({ length: windows }, (_, i) =>
    samples.filter(({ atMs }) => atMs >= first + i * stepMs && atMs <= first + (i + 1) * stepMs),
  ).flatMap((window) => window.toSorted((a, b) => a.mb - b.mb).slice(0, 1))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
