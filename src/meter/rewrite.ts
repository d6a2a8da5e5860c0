/**
 * Puts counters into a program: finds its regions (code that always runs together), gives each a weight, and adds
 * that weight to a count whenever the region runs.
 */
import { type AnyNode, type CallExpression, type Program, parse } from 'acorn'
import type { SourceMap } from 'magic-string'
import type { MeterMode } from '../model/metering.ts'
import type { Formula, Tally } from '../model/metrics.ts'
import { findBigInts } from './bigints.ts'
import { exportingFunctions } from './commonjs.ts'
import { functionStart } from './costs.ts'
import { Counting, once } from './counting.ts'
import { Edits } from './edits.ts'
import { Functions } from './functions.ts'
import { callsOut, type Measure, measurer } from './measure.ts'
import { cellCount, prefix } from './names.ts'
import { resolveScopes, type Scopes } from './scopes.ts'
import type { Region, State } from './state.ts'
import { contains, type Fn, isLoop } from './tree.ts'
import { Visitor } from './visitor.ts'

export interface RewriteOptions {
  mode: MeterMode
  formula: Formula
  /** How the file is to be parsed. */
  sourceType: 'module' | 'commonjs'
  /** Named in the source map. */
  file: string
  /** Units that may gather before they are taken into the total; tests say less, so that loops pause often. */
  fullAt?: number
}

export interface Rewritten {
  code: string
  /** Made only if asked for. */
  map(): SourceMap
  /** In mode `regions`: what one run of each region costs. Their counters stand in the code as marks. */
  regions: Tally[]
}

/** Undefined: the file already uses our names, so it must be left as it is. Throws SyntaxError. */
export function rewrite(source: string, options: RewriteOptions): Rewritten | undefined {
  if (source.includes(prefix)) return undefined
  const program = parse(source, {
    ecmaVersion: 'latest',
    sourceType: options.sourceType,
    allowHashBang: true,
  })
  return new Rewriter(program, source, options).run()
}

/** What all parts of the rewriting share for one program. */
export class Rewriter {
  readonly edits: Edits
  readonly scopes: Scopes
  readonly mode: MeterMode
  readonly formula: Formula
  readonly functions: Functions
  readonly counting: Counting
  readonly measure: Measure
  readonly isBig: (node: AnyNode) => boolean
  readonly #options: RewriteOptions
  readonly #visitor: Visitor
  /** The function at hand. */
  fn!: Fn

  constructor(program: Program, source: string, options: RewriteOptions) {
    this.#options = options
    this.mode = options.mode
    this.formula = options.formula
    this.counting = new Counting(options.mode, options.formula, options.fullAt)
    this.edits = new Edits(source)
    this.scopes = resolveScopes(program)
    this.isBig = findBigInts(program, source, this.scopes)
    const exporting = options.sourceType === 'commonjs' ? exportingFunctions(program, source) : undefined
    this.functions = new Functions(program, this.scopes, this.isBig, (fn) => exporting?.has(fn) ?? false)
    const measure = measurer({
      scopes: this.scopes,
      formula: options.formula,
      isBig: this.isBig,
      functionOf: (node) => this.functions.around(node),
      calleeStart: (call) => this.functions.calleeStart(call as CallExpression),
    })
    // Only the default mode trades exactness of single regions for speed.
    this.measure = this.mode === 'work' ? measure : () => undefined
    this.#visitor = new Visitor(this)
  }

  /** What runs when a module is loaded is not a job's work: only functions are rewritten. */
  run(): Rewritten {
    const promoted = this.mode === 'work' ? this.functions.promote() : []
    const others = this.functions.all.filter((fn) => !this.functions.isPromoted(fn))
    for (const fn of [...promoted, ...others]) this.#function(fn)
    return { ...this.edits.apply(this.#options.file), regions: this.counting.regions }
  }

  #function(fn: Fn): void {
    this.fn = fn
    this.edits.depth = fn.start
    const region: Region = {
      tally: { ...functionStart },
      form: 'cell',
      cell: this.functions.all.indexOf(fn) % cellCount,
    }
    const state: State = { region, local: false, targets: [], labels: [] }
    const promoted = this.functions.isPromoted(fn)
    // What calls may call itself, and what loops may have counted much: both report when they begin.
    const loops = contains(fn.body, isLoop)
    const checked = loops || callsOut(fn.body, (call) => this.functions.isQuick(call))
    const start = once(() => {
      if (!promoted) return this.counting.text(region, checked)
      return loops && this.mode === 'work' ? this.counting.check(region.cell) : ''
    })
    if (fn.body.type === 'BlockStatement') {
      const at = afterDirectives(fn.body)
      // A directive may stand without its semicolon.
      const first = at === fn.body.start + 1 ? '' : ';'
      this.edits.open(at, () => (start() === '' ? '' : `${first}${start()};`))
    } else this.edits.open(fn.body.start, () => (start() === '' ? '' : `(${start()},`))
    for (const parameter of fn.params) this.#visitor.visit(parameter, state)
    const { body } = fn
    if (body.type === 'BlockStatement') this.#visitor.statements(body.body, state)
    else {
      this.#visitor.visit(fn.body, state)
      this.edits.close(fn.body.end, () => (start() === '' ? '' : ')'))
    }
    if (promoted) this.functions.setStart(fn, region.tally)
  }
}

function afterDirectives(body: Extract<AnyNode, { type: 'BlockStatement' }>): number {
  let at = body.start + 1
  for (const statement of body.body) {
    if (statement.type !== 'ExpressionStatement' || statement.directive === undefined) break
    at = statement.end
  }
  return at
}
