/** Predicts the length of a war and its share of marching from the sizes of the armies. */

import { cellSide } from './picture.ts'
import { fieldOf } from './war.ts'

export interface Outlook {
  /** Ratio of the armies relative to the ratio that the smaller one can resist. */
  dominance: number
  /** Total cost in turns of a marching insect, including the picture. */
  turns: number
}

/** Cost of a fighting insect's turn relative to a marching one, which scans its whole sight. */
const fightingShare = 0.36
/** Cost of a pixel, in turns. */
const pixelShare = 0.4

export function outlookOf(rounds: number, army1: number, army2: number, isDrawn: boolean): Outlook {
  const insects = army1 + army2
  const ratio = Math.max(army1, army2) / Math.min(army1, army2)
  // Nests hatch in proportion to the front length (the square root of all insects), so large armies resist more.
  const dominance = ratio / (0.31 * insects ** 0.46)
  const side = Math.sqrt(insects)
  const lasting = dominance > 1 ? Math.min(rounds, side * (3 + 2.5 / dominance)) : rounds
  const marching = Math.min(lasting, 0.8 * side)
  const { width, height } = fieldOf(insects)
  const pixels = isDrawn ? width * height * cellSide(width) ** 2 : 0
  const turns = insects * (marching + fightingShare * (lasting - marching)) + pixelShare * pixels
  return { dominance, turns }
}
