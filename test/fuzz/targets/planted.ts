/** Targets with bugs, for the tests of the fuzzer itself. `all` leaves them out. */

import { errorsOf, type Target } from '../target.ts'

function planted(name: string, run: (input: Buffer) => string): Target {
  return {
    ...{ name: `planted-${name}`, about: 'a bug', maxBytes: 64, cpuMs: 500 },
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
  /** Four bytes, one after another: out of reach for chance, within reach of coverage. */
  planted('maze', (input) => {
    if (input[0] !== 0x50) return 'wall'
    if (input[1] !== 0x4c) return 'first'
    if (input[2] !== 0x49) return 'second'
    if (input[3] !== 0x4d) return 'third'
    throw new TypeError('the end of the maze')
  }),
]
