/** How much tests try: what `npm test` has the time for, or all of it, for `npm run check`. */

const thorough = process.env.PLIMSOLL_THOROUGH === '1'

/** Of so many seeds, runs or requests a tenth; all of them if there is time. */
export function share(many: number): number {
  return thorough ? many : Math.ceil(many / 10)
}
