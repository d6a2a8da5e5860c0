/** The palette of a picture: shades that pass evenly from one colour to the next. */
export function gradient(colours: readonly number[], shades: number): number[][] {
  const stops = colours.map((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255])
  return Array.from({ length: shades }, (_, shade) => {
    const place = (shade / Math.max(1, shades - 1)) * (stops.length - 1)
    const before = stops[Math.floor(place)]!
    const after = stops[Math.ceil(place)]!
    return before.map((level, i) => Math.round(level + (after[i]! - level) * (place % 1)))
  })
}
