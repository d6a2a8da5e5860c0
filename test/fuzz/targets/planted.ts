/** Targets with bugs, for the tests of the fuzzer itself. `all` leaves them out. */

import { bytesOf } from '../draw.ts'
import { errorsOf, type Target } from '../target.ts'

function planted(name: string, run: (input: Buffer) => string): Target {
  return {
    ...{ name: `planted-${name}`, about: 'a bug', maxBytes: 64, cpuMs: 500 },
    generate: (random) =>
      Buffer.concat([Buffer.from([random.below(4) === 0 ? 0xff : 0]), bytesOf(random, random.below(6))]),
    declared: errorsOf(RangeError),
    open: () => ({ run }),
  }
}

const isRare = (input: Buffer) => input.length > 2 && input[0] === 0xff

export const plantedTargets: readonly Target[] = [
  planted('error', (input) => {
    if (isRare(input)) throw new TypeError('not declared')
    if (input.length === 1) throw new RangeError('declared')
    return 'fine'
  }),
  planted('loop', (input) => {
    while (isRare(input));
    return 'fine'
  }),
  planted('exit', (input) => {
    if (isRare(input)) process.exit(7)
    return 'fine'
  }),
  /** Four turns, one after another: out of reach for chance, within reach of coverage. */
  planted('maze', (input) => {
    const turns = Array.from(input.subarray(0, 4), (byte) => byte >> 4)
    if (turns[0] !== 5) return 'wall'
    if (turns[1] !== 4) return 'first'
    if (turns[2] !== 9) return 'second'
    if (turns[3] !== 13) return 'third'
    throw new TypeError('the end of the maze')
  }),
]
