/** Facts and output that all parts of the rewriter share for one program. */
import type { AnyNode, CallExpression, Program } from 'acorn'
import type { MeterMode } from '../model/metering.ts'
import type { Formula } from '../model/metrics.ts'
import { findBigInts } from './bigints.ts'
import { exportingFunctions } from './commonjs.ts'
import { Counting } from './counting.ts'
import { Edits } from './edits.ts'
import { Functions } from './functions.ts'
import { listedFunctions } from './listed-functions.ts'
import { resolveScopes, type Scopes } from './scopes.ts'
import { type StaticCost, staticCosts } from './static-costs.ts'
import type { Fn } from './tree.ts'
import type { Region, State } from './visit-state.ts'

export interface ContextOptions {
  mode: MeterMode
  formula: Formula
  /** How the file is parsed. */
  sourceType: 'module' | 'commonjs'
  /** Names of the functions that are metered, with all that they contain. Default: all. */
  functions?: readonly string[]
  /** Units that may accumulate before they are added to the total. Tests use less, so that loops report often. */
  fullAt?: number
}

export class RewriteContext {
  readonly edits: Edits
  readonly scopes: Scopes
  readonly mode: MeterMode
  readonly formula: Formula
  readonly functions: Functions
  readonly counting: Counting
  readonly staticCost: StaticCost
  readonly isBig: (node: AnyNode) => boolean
  /** The function that is being rewritten. */
  fn!: Fn

  constructor(program: Program, source: string, options: ContextOptions) {
    this.mode = options.mode
    this.formula = options.formula
    this.counting = new Counting(options.mode, options.formula, options.fullAt)
    this.edits = new Edits(source)
    this.scopes = resolveScopes(program)
    this.isBig = findBigInts(program, source, this.scopes)
    const exporting = options.sourceType === 'commonjs' ? exportingFunctions(program, source) : undefined
    const listed = options.functions && listedFunctions(program, options.functions)
    this.functions = new Functions(
      program,
      this.scopes,
      this.isBig,
      (fn) => exporting?.has(fn) ?? false,
      (fn) => listed?.has(fn) ?? true,
    )
    const staticCost = staticCosts({
      scopes: this.scopes,
      formula: options.formula,
      isBig: this.isBig,
      functionOf: (node) => this.functions.around(node),
      calleeStart: (call) => this.functions.calleeStart(call as CallExpression),
    })
    // Only mode `work` trades the exactness of single regions for speed.
    this.staticCost = this.mode === 'work' ? staticCost : () => undefined
  }
}

/** The visitor, as the parts see it that handle loops and jumps. */
export interface NodeVisitor {
  visit(node: AnyNode, state: State): void
  /** Charges the whole node to the region, whichever parts of it run. */
  flat(node: AnyNode, region: Region): void
}
