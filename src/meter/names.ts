/** The names that metered code uses for what runtime.ts puts in scope. A module that has such a name is left alone. */
export const prefix = '$plim'

export const names = {
  /** Cells that count units, a few for all functions. */
  cells: `${prefix}C`,
  /** Counts per region. */
  regions: `${prefix}R`,
  /** Takes a local count into the total, gives the new local count. */
  fold: `${prefix}F`,
  /** Takes what a strip of a loop has counted into the total, and decides how long the next may be. */
  strip: `${prefix}G`,
  /** Turns of a strip, by loop. */
  lengths: `${prefix}W`,
  /** Takes the cells into the total. */
  check: `${prefix}K`,
  /** Turns of a loop from its variable's values. */
  turns: `${prefix}T`,
  /** Where a loop pauses to be counted. */
  end: `${prefix}E`,
  /** The same, where nothing is known of the loop's bound. */
  pause: `${prefix}P`,
  /** Charges for native work by the size of a value, which it gives back. */
  charge: `${prefix}V`,
  /** Local count of a loop nest. */
  local: `${prefix}N`,
} as const

/** One cell would make every count wait for the one before. */
export const cellCount = 16
/** Loops share the memory of how long their strips should be; that two meet does no harm. */
export const lengthCount = 1024
/** Units a cell or a local may hold before they are taken into the total: a millisecond's worth at most. */
export const fullAt = 2 ** 18
