/** How long a war may last and how much of it is marching, from the sizes of the armies alone. */

import { cellSide } from './picture.ts'
import { fieldOf } from './war.ts'

export interface Outlook {
  /** By how much the larger army is more than what the smaller one can hold out against. */
  dominance: number
  /** Turns of insects, as long as those of marching ones, and what the picture takes. */
  turns: number
}

/** What an insect in a fight takes, for one that marches and looks far around. */
const fightingShare = 0.36
/** What a pixel takes. */
const pixelShare = 0.4

export function outlookOf(rounds: number, army1: number, army2: number, isDrawn: boolean): Outlook {
  const insects = army1 + army2
  const ratio = Math.max(army1, army2) / Math.min(army1, army2)
  // Nests hatch by the length of the front, the square root of all: large armies hold out against more.
  const dominance = ratio / (0.31 * insects ** 0.46)
  const side = Math.sqrt(insects)
  const lasting = dominance > 1 ? Math.min(rounds, side * (3 + 2.5 / dominance)) : rounds
  const marching = Math.min(lasting, 0.8 * side)
  const { width, height } = fieldOf(insects)
  const pixels = isDrawn ? width * height * cellSide(width) ** 2 : 0
  const turns = insects * (marching + fightingShare * (lasting - marching)) + pixelShare * pixels
  return { dominance, turns }
}
