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

/** Groups that metered modules can be divided into; each has its own counters and names. */
export const mostGroups = 21

/** Modules whose source contains this are not metered: it begins the names of all groups. */
export const reserved = prefix.slice(0, -1)

/** As long as `prefix`, so that columns do not change. Group 0 has `prefix` itself. */
export function prefixOf(group: number): string {
  return group === 0 ? prefix : `${reserved}${group.toString(36)}`
}

/** With a single cell, every addition would wait for the previous one. */
export const cellCount = 16
/** Units that a cell or a local may hold before they are added to the total: at most a millisecond of work. */
export const fullAt = 2 ** 20
