/** Traces in CSV: named columns in any order, other columns ignored, cells without quotes. */

import { wrong } from './lines.ts'
import type { Trace, TraceFormat, TraceOptions } from './trace.ts'

/** The named cells of one line, in the order in which a format names its columns. */
export interface Row {
  readonly cells: readonly string[]
  /** A number of at least 0, or an error that names line and column. */
  number(column: number, whole?: boolean): number
  /** Milliseconds since 1970. */
  date(column: number): number
  /** The error for a bad line. */
  wrong(allowed: string): Error
}

export interface TableReader {
  row(row: Row): void
  end(): Pick<Trace, 'dated' | 'recorded' | 'notes'>
}

export function tableFormat(
  name: string,
  columns: readonly string[],
  read: (options: TraceOptions) => TableReader,
): TraceFormat {
  const header = columns.join(',')
  const namesOf = (firstLine: string) => firstLine.split(',').map((cell) => cell.trim())
  return {
    name,
    header,
    recognises(firstLine) {
      const names = namesOf(firstLine)
      return columns.every((column) => names.includes(column))
    },
    begin(firstLine, file, options) {
      const names = namesOf(firstLine)
      const places = columns.map((column) => names.indexOf(column))
      if (places.includes(-1)) throw wrong(file, 1, firstLine, `a line with the columns ${header} (${name})`)
      const reader = read(options)
      return {
        line(text, number) {
          const cells = text.split(',')
          if (cells.length !== names.length)
            throw wrong(file, number, text, `${names.length} columns: ${firstLine}`)
          const named = places.map((place) => cells[place]!.trim())
          reader.row(rowOf(named, columns, (allowed) => wrong(file, number, text, allowed)))
        },
        end: () => reader.end(),
      }
    },
  }
}

function rowOf(
  cells: readonly string[],
  columns: readonly string[],
  refuse: (allowed: string) => Error,
): Row {
  return {
    cells,
    number(column, whole = false) {
      const text = cells[column]!
      const value = text === '' ? Number.NaN : Number(text)
      if (value >= 0 && value <= Number.MAX_SAFE_INTEGER && (!whole || Number.isInteger(value))) return value
      throw refuse(`${columns[column]} with ${whole ? 'a whole number' : 'a number'}, 0 or more`)
    },
    date(column) {
      const value = dateOf(cells[column]!)
      if (value !== undefined) return value
      throw refuse(`${columns[column]} with a time such as 1998-06-30 14:05:00`)
    },
    wrong: refuse,
  }
}

const dateShape = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::(\d\d)(\.\d+)?)?)?Z?$/

/** A date, with or without a time, always UTC. Fractions of milliseconds are kept. */
export function dateOf(text: string): number | undefined {
  const [, day, time = '00:00', seconds = '00', fraction = '0'] = dateShape.exec(text) ?? []
  if (day === undefined) return undefined
  const wholeMs = Date.parse(`${day}T${time}:${seconds}Z`)
  // `Date` maps a day that does not exist, such as 30 February, to the next month.
  if (Number.isNaN(wholeMs) || !new Date(wholeMs).toISOString().startsWith(`${day}T${time}`)) return undefined
  return wholeMs + Number(fraction) * 1000
}
