/**
 * Inserts counters into a program: divides it into regions (code that always runs together), and adds the cost of a
 * region to a count whenever the region runs.
 */
import { type AnyNode, parse } from 'acorn'
import type { SourceMap } from 'magic-string'
import type { Tally } from '../model/metrics.ts'
import { type ContextOptions, RewriteContext } from './context.ts'
import { once } from './counting.ts'
import { cellCount, reserved } from './names.ts'
import { callsOut } from './static-costs.ts'
import { functionStart } from './syntax-costs.ts'
import { contains, type Fn, isLoop } from './tree.ts'
import type { Region, State } from './visit-state.ts'
import { Visitor } from './visitor.ts'

export interface RewriteOptions extends ContextOptions {
  /** The file's name in the source map. */
  file: string
}

export interface Rewritten {
  code: string
  /** Generated on demand. */
  map(): SourceMap
  /** In mode `regions`: the cost of one run of each region. Marks in the code stand for their counters. */
  regions: Tally[]
}

/** Undefined: the file uses the meter's reserved names and cannot be rewritten. Throws SyntaxError. */
export function rewrite(source: string, options: RewriteOptions): Rewritten | undefined {
  if (source.includes(reserved)) return undefined
  const tokens = new Set<number>()
  const program = parse(source, {
    ecmaVersion: 'latest',
    sourceType: options.sourceType,
    allowHashBang: true,
    onToken: ({ start }) => tokens.add(start),
  })
  const context = new RewriteContext(program, source, options)
  const { functions, counting, edits, mode } = context
  const visitor = new Visitor(context)
  // Only functions are rewritten: code that runs when the module is loaded is not part of a job.
  // Callers that are not metered would not count the start of a promoted function.
  const promoted = mode === 'work' && !options.functions ? functions.promote() : []
  const others = functions.all.filter((fn) => !functions.isPromoted(fn))
  for (const fn of [...promoted, ...others]) rewriteFunction(fn, context, visitor)
  return { ...edits.apply(options.file, tokens), regions: counting.regions }
}

function rewriteFunction(fn: Fn, context: RewriteContext, visitor: Visitor): void {
  const { functions, counting, edits, mode } = context
  context.fn = fn
  edits.depth = fn.start
  const region: Region = {
    tally: { ...functionStart },
    form: 'cell',
    cell: functions.all.indexOf(fn) % cellCount,
  }
  const state: State = { region, local: false, targets: [], labels: [] }
  const promoted = functions.isPromoted(fn)
  // A function that calls others may recurse, and one that loops may have counted much: both report when they start.
  const loops = contains(fn.body, isLoop)
  const checked = loops || callsOut(fn.body, (call) => functions.isQuick(call))
  const start = once(() => {
    if (!promoted) return counting.text(region, checked)
    return loops && mode === 'work' ? counting.check(region.cell) : ''
  })
  if (fn.body.type === 'BlockStatement') {
    const at = afterDirectives(fn.body)
    // A directive may have no semicolon.
    const first = at === fn.body.start + 1 ? '' : ';'
    edits.open(at, () => (start() === '' ? '' : `${first}${start()};`))
  } else edits.open(fn.body.start, () => (start() === '' ? '' : `(${start()},`))
  for (const parameter of fn.params) visitor.visit(parameter, state)
  const { body } = fn
  if (body.type === 'BlockStatement') visitor.statements(body.body, state)
  else {
    visitor.visit(fn.body, state)
    edits.close(fn.body.end, () => (start() === '' ? '' : ')'))
  }
  if (promoted) functions.setStart(fn, region.tally)
}

function afterDirectives(body: Extract<AnyNode, { type: 'BlockStatement' }>): number {
  let at = body.start + 1
  for (const statement of body.body) {
    if (statement.type !== 'ExpressionStatement' || statement.directive === undefined) break
    at = statement.end
  }
  return at
}
