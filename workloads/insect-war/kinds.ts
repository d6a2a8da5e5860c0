/** Kinds of insects and their properties. */

export interface Kind {
  name: string
  /** Percentage of insects of this kind. */
  share: number
  health: number
  /** Mean damage of a bite. */
  bite: number
  /** Damage absorbed from every bite. */
  armour: number
  /** Steps per two rounds. */
  pace: number
  /** In cells. */
  sight: number
}

export const kinds: readonly Kind[] = [
  { name: 'ant', share: 55, health: 60, bite: 12, armour: 0, pace: 2, sight: 2 },
  { name: 'beetle', share: 20, health: 110, bite: 12, armour: 5, pace: 1, sight: 1 },
  { name: 'wasp', share: 17, health: 40, bite: 18, armour: 0, pace: 4, sight: 3 },
  { name: 'mantis', share: 8, health: 90, bite: 30, armour: 2, pace: 2, sight: 2 },
]
