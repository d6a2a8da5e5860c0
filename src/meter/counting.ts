/** Generates the code that counts. */
import type { MeterMode } from '../model/metering.ts'
import { type Formula, type Tally, workOf } from '../model/metrics.ts'
import { fullAt, names } from './names.ts'
import type { Region } from './visit-state.ts'

/** Replaced by the counter's index when the module is loaded. */
const regionMark = (index: number): string => `/*@*/${index}/*@*/`
export const regionMarks = /\/\*@\*\/(\d+)\/\*@\*\//g

export class Counting {
  /** In mode `regions`: the cost of one run of each region. */
  readonly regions: Tally[] = []
  readonly fullAt: number
  readonly #mode: MeterMode
  readonly #formula: Formula

  constructor(mode: MeterMode, formula: Formula, full = fullAt) {
    this.#mode = mode
    this.#formula = formula
    this.fullAt = full
  }

  /** An expression that counts a region; '' if there is nothing to count. */
  text({ tally, form, cell: index }: Region, checked: boolean): string {
    if (form === 'none') return ''
    if (this.#mode === 'regions') {
      const counter = `${names.regions}[${regionMark(this.regions.push(tally) - 1)}]`
      const add = `${counter}=${counter}+1|0`
      return checked ? `((${add})&65535)===0&&${names.check}()` : add
    }
    const units = this.units(tally)
    if (units === 0 && !checked) return ''
    if (form === 'local') {
      const add = `${names.local}=${names.local}+${units}|0`
      return checked ? `(${add})>${this.fullAt}&&(${names.local}=${names.fold}(${names.local}))` : add
    }
    const cell = `${names.cells}[${index}]`
    const add = `${cell}+=${units}`
    return checked ? `(${add})>${this.fullAt}&&${names.check}()` : add
  }

  units(tally: Tally): number {
    return Math.round(workOf(tally, this.#formula))
  }

  /** An expression that reports if the cell is full. */
  check(index: number): string {
    return `${names.cells}[${index}]>${this.fullAt}&&${names.check}()`
  }

  /** A statement that adds the local count of a loop nest to a cell. */
  flush(index: number, next?: Region): string {
    const cell = `${names.cells}[${index}]`
    const more = next && next.form !== 'none' ? `+${this.units(next.tally)}` : ''
    return `${cell}+=${names.local}${more};`
  }
}

export function terminated(expression: string): string {
  return expression === '' ? '' : `${expression};`
}

/** Memoizes a text, because generating it assigns a number to a region. */
export function once(text: () => string): () => string {
  let value: string | undefined
  return () => (value ??= text())
}
