/** Scales randomised tests: a part of them for `npm test`, all for `npm run check`. */

const thorough = process.env.PLIMSOLL_THOROUGH === '1'

/** A tenth of `many` seeds, runs or requests; all of them in a thorough run. */
export function share(many: number): number {
  return thorough ? many : Math.ceil(many / 10)
}
