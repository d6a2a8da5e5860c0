/** Little pictures of the insects, looking to the right: # is body, + is leg, feeler or wing. */

const large: readonly string[] = [
  // An ant: three beads and six legs.
  `.+.+.+..
   ..+.+.+.
   .##.#.##
   ########
   .##.#.##
   ..+.+.+.
   .+.+.+..`,
  // A beetle: a shell.
  `.+..+..+
   ..####+.
   .######.
   .#######
   .######.
   ..####+.
   .+..+..+`,
  // A wasp: wings and a waist.
  `..+++...
   ...+++..
   ...+++##
   .###.###
   ...+++##
   ...+++..
   ..+++...`,
  // A mantis: long, with arms.
  `.....+++
   .+..+...
   ..+.####
   ########
   ..+.####
   .+..+...
   .....+++`,
]

const small: readonly string[] = [
  '+.+\n   ###\n   +.+',
  '.##\n   ###\n   .##',
  '++.\n   .##\n   ++.',
  '..+\n   ###\n   ..+',
]

type Sprite = readonly Uint8Array[]

const largeSprites = large.map(readSprite)
const smallSprites = small.map(readSprite)
const dots = [1, 2, 3].map((side): Sprite => Array(side).fill(new Uint8Array(side).fill(1)))

/** Lines of 0 for nothing, 1 for body and 2 for the rest; it fits a cell of so many pixels. */
export function spriteOf(kind: number, cellPixels: number): Sprite {
  if (cellPixels >= 9) return largeSprites[kind]!
  if (cellPixels >= 4) return smallSprites[kind]!
  return dots[cellPixels < 3 ? cellPixels - 1 : 1]!
}

function readSprite(text: string): Sprite {
  return text.split('\n').map((line) => Uint8Array.from(line.trim(), (sign) => '.#+'.indexOf(sign)))
}
