/** The names that runtime.ts defines for metered code. A module that uses such a name itself is not metered. */
export const prefix = '$plim'

export const names = {
  /** Cells that count units, shared by all functions. */
  cells: `${prefix}C`,
  /** Counts per region. */
  regions: `${prefix}R`,
  /** Adds a local count to the total and returns the new local count. */
  fold: `${prefix}F`,
  /** Adds the cells to the total. */
  check: `${prefix}K`,
  /** Charges for native work by the size of a value, and returns the value. */
  charge: `${prefix}V`,
  /** Local count of a loop nest. */
  local: `${prefix}N`,
} as const

/** With a single cell, every addition would wait for the previous one. */
export const cellCount = 16
/** Units that a cell or a local may hold before they are added to the total: at most a millisecond of work. */
export const fullAt = 2 ** 20
