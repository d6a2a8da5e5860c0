/**
 * The cells that metered code counts in, and the functions that add them to a total. It measures one job at a time,
 * because a slot is a process that runs one attempt at a time.
 */
import { runInThisContext } from 'node:vm'
import { addTo, type Formula, type Tally, workOf } from '../model/metrics.ts'
import { cellCount, names, prefix, prefixOf } from './names.ts'

// An import would load all of its parts, which costs each slot 2 ms.
const { types } = process.getBuiltinModule('node:util')

/** Interval between progress reports of a running job. */
export const reportMs = 15

/** Size of the array of counts; memory pages that no region uses are never allocated. */
const maxRegions = 2 ** 20

export interface MeterRuntime {
  /**
   * Starts counting from 0. Metered code calls `progressed` about every `reportMs`. `groups`: the modules whose work counts;
   * by default all.
   */
  begin(progressed?: (work: number) => void, groups?: readonly number[]): void
  /** Work so far. */
  work(): number
  /** Amounts of each metric so far, as far as the mode counts them. */
  tally(): Tally
  /** Adds work that no counter measures. */
  charge(units: number): void
  /** Assigns counters to a module's regions: returns the index of the first, or undefined if none are left. */
  addRegions(regions: readonly Tally[], group?: number): number | undefined
  /** Number of runs of each region of group 0, by index. */
  counts(from: number, howMany: number): number[]
  end(): void
}

/** Metered code must not notice the meter, and a program may replace `performance.now`. */
const nowMs = performance.now.bind(performance)

let installed: MeterRuntime | undefined

/** Defines the names that metered code uses, once for all modules of this thread. */
export function installRuntime(formula: Formula): MeterRuntime {
  installed ??= install(formula)
  return installed
}

class Counters {
  // Large enough to be allocated outside V8's heap, so that optimised code contains its address as a constant.
  readonly cells = new Float64Array(new ArrayBuffer(1024))
  readonly counts = new Int32Array(new ArrayBuffer(4 * maxRegions))
  readonly regions: Tally[] = []
  /** Runs of each region, as of the last `fold`. */
  readonly totals: number[] = []
  /** Units from cells and local counts, without native work. */
  counted = 0
  /** Units charged for native work. */
  native = 0
  readonly #formula: Formula

  constructor(formula: Formula) {
    this.#formula = formula
  }

  reset(): void {
    this.fold()
    this.counted = 0
    this.native = 0
    this.totals.fill(0)
  }

  fold(): void {
    for (let i = 0; i < cellCount; i++) {
      this.counted += this.cells[i]!
      this.cells[i] = 0
    }
    for (let i = 0; i < this.regions.length; i++) {
      this.totals[i] = (this.totals[i] ?? 0) + (this.counts[i]! >>> 0)
      this.counts[i] = 0
    }
  }

  tally(): Tally {
    const sum: Tally = {}
    this.regions.forEach((region, i) => {
      if (this.totals[i]! > 0) addTo(sum, region, this.totals[i])
    })
    if (this.native > 0) addTo(sum, { instructions: this.native })
    return sum
  }

  work(): number {
    return this.counted + (this.regions.length > 0 ? workOf(this.tally(), this.#formula) : this.native)
  }

  /** Returns the index of the first new region, or undefined if they do not fit. */
  add(more: readonly Tally[]): number | undefined {
    if (this.regions.length + more.length > maxRegions) return undefined
    const base = this.regions.length
    for (const region of more) {
      this.regions.push(region)
      this.totals.push(0)
    }
    return base
  }
}

function install(formula: Formula): MeterRuntime {
  const groups: Counters[] = []
  let counting: readonly Counters[] | undefined
  let report: ((work: number) => void) | undefined
  let reportedAt = 0
  /** Work that no counter measures. */
  let charged = 0

  const fold = () => {
    for (const counters of groups) counters.fold()
  }
  const work = () => {
    fold()
    const chargedWork = groups.some(({ regions }) => regions.length > 0)
      ? workOf(chargedTally(), formula)
      : charged
    return (counting ?? groups).reduce((sum, counters) => sum + counters.work(), chargedWork)
  }
  const chargedTally = (): Tally => (charged > 0 ? { instructions: charged } : {})
  const maybeReport = (): void => {
    if (!report) return
    const now = nowMs()
    if (now - reportedAt < reportMs) return
    reportedAt = now
    report(work())
  }
  const groupOf = (group: number): Counters => {
    const known = groups[group]
    if (known) return known
    // Groups are numbered from 0 without gaps.
    if (group > 0) groupOf(group - 1)
    const counters = new Counters(formula)
    defineNames(prefixOf(group), runtimeNames(counters, maybeReport))
    groups[group] = counters
    return counters
  }
  groupOf(0)

  return {
    begin(progressed, only) {
      for (const counters of groups) counters.reset()
      charged = 0
      counting = only?.map(groupOf)
      report = progressed
      reportedAt = nowMs()
    },
    work,
    tally() {
      fold()
      const sum = chargedTally()
      for (const counters of counting ?? groups) addTo(sum, counters.tally())
      return sum
    },
    charge(units) {
      charged += units
    },
    addRegions: (regions, group = 0) => groupOf(group).add(regions),
    counts(from, howMany) {
      fold()
      return groupOf(0).totals.slice(from, from + howMany)
    },
    end() {
      report = undefined
    },
  }
}

/** What the names of a group stand for. */
function runtimeNames(counters: Counters, maybeReport: () => void): Record<string, unknown> {
  let checks = 0
  return {
    [names.cells]: counters.cells,
    [names.regions]: counters.counts,
    [names.fold](units: number): number {
      counters.counted += units
      maybeReport()
      return 0
    },
    [names.check](): void {
      // Folding the counts of all regions is slow, and they are folded long before they overflow.
      if (counters.regions.length === 0 || ++checks % 4096 === 0) counters.fold()
      maybeReport()
    },
    [names.charge](value: unknown, unitsPerItem: number): unknown {
      counters.native += sizeOf(value) * unitsPerItem
      return value
    },
  }
}

/** Defines lexical names of the realm, not properties of globalThis: V8 treats them as constants, and programs do not see them. */
function defineNames(own: string, values: Readonly<Record<string, unknown>>): void {
  const set = runInThisContext(`let ${own}; (values) => { ${own} = values }`) as (it: typeof values) => void
  set(values)
  const definitions = Object.keys(values).map(
    (name) => `const ${name.replace(prefix, own)} = ${own}.${name};`,
  )
  runInThisContext(definitions.join(''))
}

/** Bytes of binary data, elements of an array, characters of a string; 0 for anything else. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  try {
    if (ArrayBuffer.isView(value)) return (types.isDataView(value) ? viewBytes : arrayBytes).call(value)
    // Reading the length of a proxy would run its traps.
    if (Array.isArray(value)) return types.isProxy(value) ? 0 : value.length
    if (types.isArrayBuffer(value)) return bufferBytes.call(value)
    return types.isSharedArrayBuffer(value) ? sharedBytes.call(value) : 0
  } catch {
    // A transferred buffer or a revoked proxy.
    return 0
  }
}

// A subclass in the program may define a getter of the same name, which must not run.
const arrayBytes = byteLengthOf(Object.getPrototypeOf(Uint8Array.prototype))
const viewBytes = byteLengthOf(DataView.prototype)
const bufferBytes = byteLengthOf(ArrayBuffer.prototype)
const sharedBytes = byteLengthOf(SharedArrayBuffer.prototype)

function byteLengthOf(prototype: object): (this: object) => number {
  return Object.getOwnPropertyDescriptor(prototype, 'byteLength')!.get!
}
