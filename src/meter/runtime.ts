/**
 * What metered code reaches for while it runs: the cells it counts in, and the few functions that take them into a
 * total. One job at a time: a slot is a process.
 */
import { types } from 'node:util'
import { runInThisContext } from 'node:vm'
import { addTo, type Formula, type Tally, workOf } from '../model/metrics.ts'
import { cellCount, names, prefix } from './names.ts'

/** How often a running job says how far it is. */
export const reportMs = 15

/** Room for counts per region; pages that no region uses cost nothing. */
const mostRegions = 2 ** 20

export interface MeterRuntime {
  /** Begins to count from 0. `progressed` is called now and then from inside the metered code. */
  begin(progressed?: (work: number) => void): void
  /** Work so far. */
  work(): number
  /** What was counted so far, metric by metric; only what the mode lets one know. */
  tally(): Tally
  /** Adds work that no counter sees. */
  charge(units: number): void
  /** Gives a module's regions their places; undefined if there is no room left. */
  place(regions: readonly Tally[]): number | undefined
  /** How often regions ran, by their places. */
  counts(from: number, howMany: number): number[]
  end(): void
}

interface Shared {
  cells: Float64Array
  counts: Int32Array
  fold(units: number): number
  check(): void
  charge(value: unknown, unitsPerItem: number): unknown
}

/** The program may put a clock of its own in place of the real one. */
const nowMs = performance.now.bind(performance)

let installed: MeterRuntime | undefined

/** Puts the names of metered code in scope, once for all modules of this thread. */
export function installRuntime(formula: Formula): MeterRuntime {
  installed ??= install(formula)
  return installed
}

function install(formula: Formula): MeterRuntime {
  // Long enough to lie outside V8's heap, where its address is a constant of optimised code.
  const cells = new Float64Array(new ArrayBuffer(1024))
  const counts = new Int32Array(new ArrayBuffer(4 * mostRegions))
  const totals: number[] = []
  const regions: Tally[] = []
  /** Units from cells and locals; apart from it, what native work was charged. */
  let counted = 0
  let native = 0
  let report: ((work: number) => void) | undefined
  let reportedAt = 0
  let checks = 0

  const foldCells = (): void => {
    for (let i = 0; i < cellCount; i++) {
      counted += cells[i]!
      cells[i] = 0
    }
    for (let i = 0; i < regions.length; i++) {
      totals[i] = (totals[i] ?? 0) + (counts[i]! >>> 0)
      counts[i] = 0
    }
  }
  const tally = (): Tally => {
    const sum: Tally = {}
    regions.forEach((region, i) => {
      if (totals[i]! > 0) addTo(sum, region, totals[i])
    })
    if (native > 0) addTo(sum, { instructions: native })
    return sum
  }
  const total = (): number => counted + (regions.length > 0 ? workOf(tally(), formula) : native)
  const maybeReport = (): void => {
    if (!report) return
    const now = nowMs()
    if (now - reportedAt < reportMs) return
    reportedAt = now
    foldCells()
    report(total())
  }

  const shared: Shared = {
    cells,
    counts,
    fold(units) {
      counted += units
      maybeReport()
      return 0
    },
    check() {
      // Counts of regions are many, and are checked long before they wrap.
      if (regions.length === 0 || ++checks % 4096 === 0) foldCells()
      maybeReport()
    },
    charge(value, unitsPerItem) {
      native += sizeOf(value) * unitsPerItem
      return value
    },
  }
  // Lexical names of the realm, not properties of globalThis: V8 treats them as constants, and nobody meets them.
  const values: Record<string, unknown> = {
    [names.cells]: cells,
    [names.regions]: counts,
    [names.fold]: shared.fold,
    [names.check]: shared.check,
    [names.charge]: shared.charge,
  }
  const take = runInThisContext(`let ${prefix}; (values) => { ${prefix} = values }`) as (
    it: typeof values,
  ) => void
  take(values)
  runInThisContext(
    `${Object.keys(values)
      .map((name) => `const ${name} = ${prefix}.${name};`)
      .join('')}`,
  )

  return {
    begin(progressed) {
      foldCells()
      counted = 0
      native = 0
      totals.fill(0)
      report = progressed
      reportedAt = nowMs()
    },
    work() {
      foldCells()
      return total()
    },
    tally() {
      foldCells()
      return tally()
    },
    charge(units) {
      native += units
    },
    place(more) {
      if (regions.length + more.length > mostRegions) return undefined
      const base = regions.length
      for (const region of more) {
        regions.push(region)
        totals.push(0)
      }
      return base
    },
    counts(from, howMany) {
      foldCells()
      return totals.slice(from, from + howMany)
    },
    end() {
      report = undefined
    },
  }
}

/** Bytes of what is binary, items of an array, characters of text; nothing of anything else. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  try {
    if (ArrayBuffer.isView(value)) return (types.isDataView(value) ? viewBytes : arrayBytes).call(value)
    // A proxy of an array would notice.
    if (Array.isArray(value)) return types.isProxy(value) ? 0 : value.length
    if (types.isArrayBuffer(value)) return bufferBytes.call(value)
    return types.isSharedArrayBuffer(value) ? sharedBytes.call(value) : 0
  } catch {
    // What was given away, or revoked.
    return 0
  }
}

// A class of the program may have a getter of the same name, which would notice.
const arrayBytes = byteLengthOf(Object.getPrototypeOf(Uint8Array.prototype))
const viewBytes = byteLengthOf(DataView.prototype)
const bufferBytes = byteLengthOf(ArrayBuffer.prototype)
const sharedBytes = byteLengthOf(SharedArrayBuffer.prototype)

function byteLengthOf(prototype: object): (this: object) => number {
  return Object.getOwnPropertyDescriptor(prototype, 'byteLength')!.get!
}
