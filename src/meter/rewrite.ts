/**
 * Puts counters into a program: finds its regions (code that always runs together), gives each a weight, and adds
 * that weight to a count whenever the region runs.
 */
import { type AnyNode, type CallExpression, type Program, parse } from 'acorn'
import type { SourceMap } from 'magic-string'
import { findBigInts } from './bigints.ts'
import { exportingFunctions } from './commonjs.ts'
import { costOf } from './costs.ts'
import { Edits } from './edits.ts'
import { LoopRewriter } from './loops.ts'
import { callsOut, canLeave, lightWork, type Measure, measurer } from './measure.ts'
import { addTo, type Formula, type Tally, workOf } from './metrics.ts'
import { cellCount, fullAt, names, prefix } from './names.ts'
import { nativeCharge } from './natives.ts'
import { promotedFunctions } from './promoted.ts'
import { resolveScopes, type Scopes } from './scopes.ts'
import { children, contains, type Fn, isFunction, isLoop, type Loop } from './tree.ts'

/** `work`: one number. `regions`: how often each region ran. `routines`: entries of functions × their static cost. */
export type MeterMode = 'work' | 'regions' | 'routines'

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
  map: SourceMap
  /** In mode `regions`: what one run of each region costs. Its counter stands in the code as `regionMark(i)`. */
  regions: Tally[]
}

/** Replaced by the counter's place in memory when the module is loaded. */
export const regionMark = (index: number): string => `/*@*/${index}/*@*/`
export const regionMarks = /\/\*@\*\/(\d+)\/\*@\*\//g

/** Code that always runs together. */
export interface Region {
  readonly tally: Tally
  /** None: others count it. */
  form: 'cell' | 'local' | 'none'
  /** The cell of its function. */
  readonly cell: number
}

/** A statement that `break` or `continue` can mean. */
export interface Target {
  readonly labels: readonly string[]
  readonly loop: boolean
  readonly switched: boolean
  readonly local: boolean
  /** For a counted loop: what must be done before leaving it, and its own exit. */
  readonly leaving?: (position: number, itself: boolean) => string
  readonly exit?: string
  /** A block whose exceptions are caught. */
  readonly catches?: boolean
}

export interface State {
  readonly region: Region
  /** Inside a nest of loops that counts in a local. */
  readonly local: boolean
  readonly targets: readonly Target[]
  /** Labels of the statement that is about to be visited. */
  readonly labels: readonly string[]
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

export class Rewriter {
  readonly edits: Edits
  readonly scopes: Scopes
  readonly mode: MeterMode
  readonly formula: Formula
  readonly fullAt: number
  readonly measure: Measure
  readonly #options: RewriteOptions
  readonly #loops: LoopRewriter
  readonly #functions: Fn[] = []
  readonly #inFunction = new Map<AnyNode, Fn>()
  readonly #untouched = new Set<AnyNode>()
  /** Functions whose start is charged by those who call them. */
  readonly #starts = new Map<Fn, Tally | undefined>()
  readonly #regions: Tally[] = []
  readonly isBig: (node: AnyNode) => boolean
  fn!: Fn

  constructor(program: Program, source: string, options: RewriteOptions) {
    this.#options = options
    this.mode = options.mode
    this.formula = options.formula
    this.fullAt = options.fullAt ?? fullAt
    this.edits = new Edits(source)
    this.scopes = resolveScopes(program)
    this.isBig = findBigInts(program, source, this.scopes)
    this.#collect(program, undefined)
    const measure = measurer({
      scopes: this.scopes,
      formula: options.formula,
      isBig: this.isBig,
      functionOf: (node) => this.#inFunction.get(node),
      calleeStart: (call) => this.calleeStart(call as CallExpression),
    })
    // Only the default mode trades exactness of single regions for speed.
    this.measure = this.mode === 'work' ? measure : () => undefined
    this.#loops = new LoopRewriter(this)
  }

  run(): Rewritten {
    const promoted = this.mode === 'work' ? promotedFunctions(this.#functions, this.scopes) : []
    for (const fn of promoted) this.#starts.set(fn, undefined)
    const others = this.#functions.filter((fn) => !this.#starts.has(fn))
    // Those that are called come before those that call them, so that their cost is known.
    // What runs when a module is loaded is not a job's work.
    for (const fn of [...promoted, ...others]) this.#function(fn)
    return { ...this.edits.apply(this.#options.file), regions: this.#regions }
  }

  #collect(node: AnyNode, fn: Fn | undefined): void {
    if (this.#options.sourceType === 'commonjs' && node.type === 'CallExpression') {
      for (const it of exportingFunctions(node, this.edits)) this.#untouched.add(it)
    }
    if (this.#untouched.has(node)) return
    const inside = isFunction(node) ? node : fn
    if (isFunction(node)) this.#functions.push(node)
    if (inside && isLoop(node)) this.#inFunction.set(node, inside)
    // Our names could mean members of the object.
    if (node.type === 'WithStatement') return
    for (const part of children(node)) this.#collect(part, inside)
  }

  #function(fn: Fn): void {
    this.fn = fn
    this.edits.depth = fn.start
    const region: Region = {
      tally: { blocks: 1 },
      form: 'cell',
      cell: this.#functions.indexOf(fn) % cellCount,
    }
    const state: State = { region, local: false, targets: [], labels: [] }
    const promoted = this.#starts.has(fn)
    // A function that calls nothing and does not loop leaves it to others: it can neither call itself nor take long.
    const loops = contains(fn.body, isLoop)
    const checked = loops || callsOut(fn.body, () => false)
    const start = once(() => {
      if (!promoted) return this.counting(region, checked)
      return loops ? `${names.cells}[${region.cell}]>${this.fullAt}&&${names.check}()` : ''
    })
    if (fn.body.type === 'BlockStatement') {
      const at = afterDirectives(fn.body)
      // A directive may stand without its semicolon.
      const first = at === fn.body.start + 1 ? '' : ';'
      this.edits.open(at, () => (start() === '' ? '' : `${first}${start()};`))
    } else this.edits.open(fn.body.start, () => (start() === '' ? '' : `(${start()},`))
    for (const parameter of fn.params) this.visit(parameter, state)
    const { body } = fn
    if (body.type === 'BlockStatement') this.statements(body.body, state)
    else {
      this.visit(fn.body, state)
      this.edits.close(fn.body.end, () => (start() === '' ? '' : ')'))
    }
    if (promoted) this.#starts.set(fn, region.tally)
  }

  calleeStart({ callee }: CallExpression): Tally | undefined {
    const binding = callee.type === 'Identifier' ? this.scopes.bindingOf(callee) : undefined
    const fn = binding?.value as Fn | undefined
    return fn && this.#starts.get(fn)
  }

  /** Code that counts a region, as an expression; '' if there is nothing to count. */
  counting({ tally, form, cell: index }: Region, checked: boolean): string {
    if (form === 'none') return ''
    if (this.mode === 'regions') {
      const counter = `${names.regions}[${regionMark(this.#regions.push(tally) - 1)}]`
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
    const add = `${cell}=${cell}+${units}|0`
    return checked ? `(${add})>${this.fullAt}&&${names.check}()` : add
  }

  units(tally: Tally): number {
    return Math.max(0, Math.round(workOf(tally, this.formula)))
  }

  /** Takes what a loop nest has counted so far into a cell. */
  flush(index: number, next?: Region): string {
    const cell = `${names.cells}[${index}]`
    const more = next && next.form !== 'none' ? `+${this.units(next.tally)}` : ''
    return `${cell}=${cell}+${names.local}${more}|0;`
  }

  regionIn(state: State): Region {
    return { tally: { blocks: 1 }, form: state.local ? 'local' : 'cell', cell: state.region.cell }
  }

  statements(list: readonly AnyNode[], state: State): void {
    const { mode } = this
    let current = state
    const parts: Region[] = [state.region]
    list.forEach((statement, index) => {
      this.visit(statement, current)
      const next = list[index + 1]
      if (!next || current.region.form === 'none' || mode === 'routines' || !canLeave(statement)) return
      if (this.#isLight(list.slice(index + 1))) return
      const region = this.regionIn(current)
      parts.push(region)
      const nest = this.#loops.lastNest
      if (nest?.statement === statement) nest.next = region
      else this.edits.open(next.start, () => terminated(this.counting(region, false)))
      current = { ...current, region }
    })
    for (let i = parts.length - 1; i > 0; i--) this.#merge(parts[i]!, parts[i - 1]!, 1)
  }

  /** A region that is too light for a counter of its own is counted with another. */
  #merge(region: Region, into: Region, share: number): void {
    if (this.mode !== 'work' || region.form === 'none') return
    if (workOf(region.tally, this.formula) > lightWork) return
    addTo(into.tally, region.tally, share)
    region.form = 'none'
  }

  #isLight(nodes: readonly AnyNode[]): boolean {
    let work = 0
    for (const node of nodes) {
      const tally = this.measure(node)
      if (!tally) return false
      work += workOf(tally, this.formula)
    }
    return work <= lightWork
  }

  visit(node: AnyNode, state: State): void {
    const { region } = state
    if (isFunction(node)) return addTo(region.tally, costOf(node, this.isBig))
    if (isLoop(node)) return this.#loop(node, state)
    const plain = state.labels.length > 0 ? { ...state, labels: [] } : state
    switch (node.type) {
      case 'BlockStatement':
        return this.statements(node.body, plain)
      case 'LabeledStatement':
        return this.#labeled(node, state)
      case 'IfStatement':
        addTo(region.tally, costOf(node, this.isBig))
        this.visit(node.test, plain)
        return this.#branches([node.consequent, node.alternate], plain)
      case 'ConditionalExpression':
        addTo(region.tally, costOf(node, this.isBig))
        this.visit(node.test, plain)
        return this.#branches([node.consequent, node.alternate], plain)
      case 'LogicalExpression':
        addTo(region.tally, costOf(node, this.isBig))
        this.visit(node.left, plain)
        return this.#branches([node.right, undefined], plain)
      case 'SwitchStatement':
        return this.#switch(node, plain)
      case 'TryStatement':
        this.visit(node.block, node.handler ? within(plain, { catches: true }) : plain)
        if (node.handler) this.#arm(node.handler.body, plain)
        if (node.finalizer) this.visit(node.finalizer, plain)
        return
      case 'ReturnStatement':
      case 'ThrowStatement':
        return this.#leave(node, plain)
      case 'BreakStatement':
      case 'ContinueStatement':
        return this.#jump(node, plain)
      case 'ClassDeclaration':
      case 'ClassExpression':
        if (node.superClass) this.visit(node.superClass, plain)
        return addTo(region.tally, costOf(node, this.isBig))
      case 'WithStatement':
        return
      case 'CallExpression':
      case 'NewExpression':
        return this.#call(node, plain)
      case 'ChainExpression':
        // A part of it may not run, and what is wrapped would no longer end the whole.
        return this.flat(node, region)
      default:
        addTo(region.tally, costOf(node, this.isBig))
        for (const part of children(node)) this.visit(part, plain)
    }
  }

  /** Charges all of it, whatever parts of it run. */
  flat(node: AnyNode, region: Region): void {
    addTo(region.tally, costOf(node, this.isBig))
    if (node.type === 'CallExpression') addTo(region.tally, this.calleeStart(node) ?? {})
    if (!isFunction(node)) for (const part of children(node)) this.flat(part, region)
  }

  #loop(loop: Loop, state: State): void {
    if (this.mode === 'routines') {
      for (const part of children(loop)) this.visit(part, { ...state, labels: [] })
      return
    }
    this.#loops.visit(loop, state)
  }

  #labeled(node: Extract<AnyNode, { type: 'LabeledStatement' }>, state: State): void {
    const labels = [...state.labels, node.label.name]
    if (isLoop(node.body) || node.body.type === 'LabeledStatement') {
      // A nest of loops is wrapped with its labels.
      if (state.labels.length === 0) return this.#loops.enter(node, { ...state, labels })
      return this.visit(node.body, { ...state, labels })
    }
    this.visit(node.body, within({ ...state, labels: [] }, { labels }))
  }

  /** One of several ways; those that differ little are charged at their mean, without a counter. */
  #branches(ways: readonly (AnyNode | null | undefined)[], state: State): void {
    const { region } = state
    if (this.mode === 'routines') {
      for (const way of ways) if (way) this.visit(way, state)
      return
    }
    const tallies = ways.map((way) => (way ? this.measure(way) : {}))
    const works = tallies.map((tally) => (tally ? workOf(tally, this.formula) : Number.NaN))
    if (Math.max(...works) - Math.min(...works) <= lightWork) {
      for (const tally of tallies) addTo(region.tally, tally!, 1 / ways.length)
      for (const way of ways) if (way) this.visit(way, silent(state))
      return
    }
    for (const way of ways) if (way) this.#arm(way, state)
  }

  /** Code that runs only sometimes. */
  #arm(node: AnyNode, state: State): void {
    if (state.region.form === 'none' || isFunction(node)) return this.visit(node, state)
    const region = this.regionIn(state)
    const inner = { ...state, region }
    const count = once(() => this.counting(region, false))
    if (node.type === 'BlockStatement') {
      this.edits.open(node.start + 1, () => terminated(count()))
      this.visit(node, inner)
      return this.#merge(region, state.region, 0.5)
    }
    const statement = /Statement$|Declaration$/.test(node.type)
    this.edits.open(node.start, () => {
      if (count() === '') return ''
      return statement ? `{${count()};` : `(${count()},`
    })
    this.visit(node, inner)
    this.edits.close(node.end, () => (count() === '' ? '' : statement ? '}' : ')'))
    this.#merge(region, state.region, 0.5)
  }

  #switch(node: Extract<AnyNode, { type: 'SwitchStatement' }>, state: State): void {
    this.visit(node.discriminant, state)
    addTo(state.region.tally, { instructions: 2 })
    const { targets } = within(state, { switched: true })
    for (const it of node.cases) {
      if (it.test && it.test.type !== 'Literal') this.visit(it.test, silent(state))
      const [first] = it.consequent
      if (!first) continue
      const region =
        state.region.form === 'none' || this.mode === 'routines' ? state.region : this.regionIn(state)
      if (region !== state.region) {
        this.edits.open(first.start, () => terminated(this.counting(region, false)))
      }
      this.statements(it.consequent, { ...state, region, targets })
    }
  }

  /** `return` and `throw` take along what the loops around them have counted. */
  #leave(node: Extract<AnyNode, { type: 'ReturnStatement' | 'ThrowStatement' }>, state: State): void {
    addTo(state.region.tally, costOf(node, this.isBig))
    if (!state.local) {
      if (node.argument) this.visit(node.argument, state)
      return
    }
    // What is thrown goes no further than to where it is caught.
    const caught = node.type === 'ThrowStatement' ? state.targets.findLastIndex(({ catches }) => catches) : -1
    const targets = state.targets.slice(caught + 1)
    const flush = state.targets[caught]?.local ? '' : `${this.flush(state.region.cell)}${names.local}=0;`
    this.edits.open(node.start, () => `{${this.leaving(targets, node.start)}${flush}`)
    // What the value itself counts comes after the flush.
    if (node.argument) this.visit(node.argument, { ...state, local: false })
    this.edits.close(node.end, '}')
  }

  /** What is owed by the counted loops that are left, from the innermost on. */
  leaving(targets: readonly Target[], position: number): string {
    return targets.map((target) => target.leaving?.(position, false) ?? '').join('')
  }

  #jump(node: Extract<AnyNode, { type: 'BreakStatement' | 'ContinueStatement' }>, state: State): void {
    addTo(state.region.tally, { instructions: 1 })
    const name = node.label?.name
    const index = state.targets.findLastIndex(({ labels, loop, switched }) =>
      name !== undefined ? labels.includes(name) : loop || (switched && node.type === 'BreakStatement'),
    )
    const target = state.targets[index]
    const left = state.targets.slice(index + 1)
    const exit = node.type === 'BreakStatement' ? target?.exit : undefined
    const leavesLocal = state.local && !target?.local
    const owes = node.type === 'BreakStatement' && target?.leaving
    if (!owes && !leavesLocal && !left.some(({ leaving }) => leaving)) return
    const owed = () => {
      const own = node.type === 'BreakStatement' ? (target?.leaving?.(node.start, true) ?? '') : ''
      const local = leavesLocal ? this.flush(state.region.cell) : ''
      return `${this.leaving(left, node.start)}${own}${local}`
    }
    this.edits.replace(node.start, node.end, () => {
      const jump = exit ? `break ${exit}` : this.edits.text(node.start, node.end).replace(/;$/, '')
      return `{${owed()}${jump};}`
    })
  }

  #call(node: Extract<AnyNode, { type: 'CallExpression' | 'NewExpression' }>, state: State): void {
    addTo(state.region.tally, costOf(node, this.isBig))
    if (node.type === 'CallExpression') addTo(state.region.tally, this.calleeStart(node) ?? {})
    const charge = this.mode === 'routines' ? undefined : nativeCharge(node)
    const charged = charge && chargedPart(node, charge.by)
    if (charged) this.edits.open(charged.start, `${names.charge}((`)
    for (const part of children(node)) this.visit(part, state)
    if (charged) this.edits.close(charged.end, `),${charge.units})`)
  }
}

function chargedPart(
  node: Extract<AnyNode, { type: 'CallExpression' | 'NewExpression' }>,
  by: 'receiver' | 'argument' | 'result',
): AnyNode {
  if (by === 'result') return node
  return by === 'argument' ? node.arguments[0]! : (node.callee as { object: AnyNode }).object
}

/** Inside a statement that is no loop. */
function within(state: State, target: Partial<Target>): State {
  const { local } = state
  const inner = { labels: [], loop: false, switched: false, local, ...target }
  return { ...state, targets: [...state.targets, inner] }
}

function silent(state: State): State {
  return { ...state, region: { tally: {}, form: 'none', cell: state.region.cell } }
}

function terminated(expression: string): string {
  return expression === '' ? '' : `${expression};`
}

/** A region's number is given when its text is first asked for. */
function once(text: () => string): () => string {
  let value: string | undefined
  return () => (value ??= text())
}

function afterDirectives(body: Extract<AnyNode, { type: 'BlockStatement' }>): number {
  let at = body.start + 1
  for (const statement of body.body) {
    if (statement.type !== 'ExpressionStatement' || statement.directive === undefined) break
    at = statement.end
  }
  return at
}
