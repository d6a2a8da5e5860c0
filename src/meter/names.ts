/** The names that metered code uses for what runtime.ts puts in scope. A module that has such a name is left alone. */
export const prefix = '$plim'

export const names = {
  /** Cells that count units, a few for all functions. */
  cells: `${prefix}C`,
  /** Counts per region. */
  regions: `${prefix}R`,
  /** Takes a local count into the total, gives the new local count. */
  fold: `${prefix}F`,
  /** Takes the cells into the total. */
  check: `${prefix}K`,
  /** Charges for native work by the size of a value, which it gives back. */
  charge: `${prefix}V`,
  /** Local count of a loop nest. */
  local: `${prefix}N`,
} as const

/** One cell would make every count wait for the one before. */
export const cellCount = 16
/** Units a cell or a local may hold before they are taken into the total: a millisecond's worth at most. */
export const fullAt = 2 ** 20
