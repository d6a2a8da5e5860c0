/** An expected value and the bounds of nine of ten values. */

export interface Range {
  expected: number
  low: number
  high: number
}

/** The sum of two independent quantities: their deviations add up as squares. */
export function sumOf(a: Range, b: Range): Range {
  const expected = a.expected + b.expected
  return {
    expected,
    low: Math.max(0, expected - Math.hypot(a.expected - a.low, b.expected - b.low)),
    high: expected + Math.hypot(a.high - a.expected, b.high - b.expected),
  }
}

export function each({ expected, low, high }: Range, change: (value: number) => number): Range {
  return { expected: change(expected), low: change(low), high: change(high) }
}
