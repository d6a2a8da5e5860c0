/** Sprites of insects, facing right: # is body, + is leg, feeler or wing. */

const large: readonly string[] = [
  // Ant: three segments and six legs.
  `.+.+.+..
   ..+.+.+.
   .##.#.##
   ########
   .##.#.##
   ..+.+.+.
   .+.+.+..`,
  // Beetle: a shell.
  `.+..+..+
   ..####+.
   .######.
   .#######
   .######.
   ..####+.
   .+..+..+`,
  // Wasp: wings and a waist.
  `..+++...
   ...+++..
   ...+++##
   .###.###
   ...+++##
   ...+++..
   ..+++...`,
  // Mantis: long, with arms.
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

/** Rows of 0 (empty), 1 (body) and 2 (limbs) that fit a cell of `cellPixels`. */
export function spriteOf(kind: number, cellPixels: number): Sprite {
  if (cellPixels >= 9) return largeSprites[kind]!
  if (cellPixels >= 4) return smallSprites[kind]!
  return dots[cellPixels < 3 ? cellPixels - 1 : 1]!
}

function readSprite(text: string): Sprite {
  return text.split('\n').map((line) => Uint8Array.from(line.trim(), (sign) => '.#+'.indexOf(sign)))
}
