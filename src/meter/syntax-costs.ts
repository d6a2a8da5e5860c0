/**
 * The cost of one syntax node without its parts, in tenths of a nanosecond of V8's optimised code on the reference
 * machine: fitted to the CPU time of the ready workloads, then rounded. Changing a number here changes the unit of work.
 */
import type { AnyNode, CallExpression, Identifier, NewExpression } from 'acorn'
import type { Tally } from '../model/metrics.ts'

/** Entering a region also has a cost. */
export const block: Tally = { blocks: 1, instructions: 4 }
export const functionStart: Tally = { blocks: 1, instructions: 10 }
export const loopTurn: Tally = { blocks: 1, instructions: 7, branches: 1 }
/** Entering code that runs conditionally. */
export const branch: Tally = { ...block, branches: 1 }
/** Branch predictors usually miss the end of a loop. */
export const loopStart: Tally = { instructions: 60 }

const nothing: Tally = {}
const one: Tally = { instructions: 1.5 }
const stackLoad: Tally = { stackLoads: 1 }
const load: Tally = { instructions: 1, fieldLoads: 1 }
const elementLoad: Tally = { instructions: 9, fieldLoads: 1 }
const call: Tally = { instructions: 27, calls: 1 }
const methodCall: Tally = { instructions: 33, calls: 1 }
const construction: Tally = { instructions: 100, allocations: 1, calls: 1 }
const typedArray: Tally = { instructions: 800, allocations: 1, calls: 1 }
const closure: Tally = { instructions: 50, allocations: 1 }
const bigOperation: Tally = { instructions: 150, allocations: 1 }

const operators: Record<string, Tally> = {
  '*': { instructions: 6 },
  '/': { instructions: 8 },
  '%': { instructions: 20 },
  '**': { instructions: 100 },
  in: { instructions: 60 },
  instanceof: { instructions: 40 },
}

/** Functions of Math that take more than one or two instructions. */
const maths: Record<string, number> = {
  sqrt: 10,
  round: 8,
  hypot: 80,
  random: 30,
  ...Object.fromEntries(
    ['acos', 'acosh', 'asin', 'asinh', 'atan', 'atan2', 'atanh', 'cbrt', 'cos', 'cosh', 'exp', 'expm1', 'log']
      .concat(['log10', 'log1p', 'log2', 'pow', 'sin', 'sinh', 'tan', 'tanh'])
      .map((name) => [name, 120]),
  ),
}

/** Methods that the optimising compiler inlines. */
const inlined: Record<string, number> = {
  charCodeAt: 20,
  codePointAt: 25,
  at: 20,
  push: 25,
  pop: 20,
  getUint8: 10,
  getUint16: 10,
  getUint32: 10,
  setUint8: 10,
  setUint16: 10,
  setUint32: 10,
}

/** Methods of hash tables. */
const hashed = new Set(['get', 'set', 'has', 'delete', 'add'])

/** `isBig` recognises expressions that are BigInts. */
export function costOf(node: AnyNode, isBig: (node: AnyNode) => boolean): Tally {
  switch (node.type) {
    case 'Identifier':
      return stackLoad
    case 'MemberExpression':
      return node.computed ? elementLoad : load
    case 'BinaryExpression':
      if (isBig(node.left) || isBig(node.right)) return bigOperation
      return operators[node.operator] ?? one
    case 'AssignmentExpression':
      return assignment(node, isBig)
    case 'UpdateExpression':
      if (isBig(node.argument)) return bigOperation
      return node.argument.type === 'MemberExpression' ? { instructions: 2, stores: 1 } : one
    case 'UnaryExpression':
      return node.operator === '-' && isBig(node.argument) ? bigOperation : one
    case 'CallExpression':
      return callCost(node)
    case 'NewExpression':
      return constructionCost(node)
    case 'ImportExpression':
    case 'TaggedTemplateExpression':
      return call
    case 'ObjectExpression':
      return {
        instructions: 40 + 4 * node.properties.length,
        stores: node.properties.length,
        allocations: 1,
      }
    case 'ArrayExpression':
      return { instructions: 40 + 4 * node.elements.length, stores: node.elements.length, allocations: 1 }
    case 'TemplateLiteral':
      return node.expressions.length === 0
        ? nothing
        : { instructions: 100 * node.expressions.length, allocations: 1 }
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return closure
    case 'ClassExpression':
    case 'ClassDeclaration':
      return { instructions: 1000, allocations: 2 }
    case 'SpreadElement':
      return { instructions: 100, allocations: 1 }
    case 'YieldExpression':
    case 'AwaitExpression':
      return { instructions: 500, calls: 1 }
    case 'ThrowStatement':
      return { instructions: 2000, allocations: 1 }
    case 'LogicalExpression':
      return { instructions: 3 }
    case 'VariableDeclarator':
      return { instructions: 0.5 }
    case 'SwitchStatement':
      return { instructions: 10 }
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'ReturnStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
      return one
    case 'ForOfStatement':
    case 'ForInStatement':
      return { instructions: 5, fieldLoads: 1 }
    default:
      return node.type === 'Literal' && node.regex ? { instructions: 200, allocations: 1 } : nothing
  }
}

function assignment(
  node: Extract<AnyNode, { type: 'AssignmentExpression' }>,
  isBig: (node: AnyNode) => boolean,
): Tally {
  const stores = node.left.type === 'MemberExpression'
  const operator = node.operator.slice(0, -1)
  const big = operator !== '' && (isBig(node.right) || isBig(node.left))
  if (big) return bigOperation
  if (!stores) return operator === '' ? { instructions: 0.5 } : (operators[operator] ?? one)
  const { instructions = 0 } = operator === '' ? nothing : (operators[operator] ?? one)
  // A plain assignment does not read the member, so the load that the member's own cost contains is subtracted.
  return { instructions: instructions + 3, stores: 1, fieldLoads: operator === '' ? -1 : 0 }
}

function callCost({ callee }: CallExpression): Tally {
  if (callee.type !== 'MemberExpression' || callee.computed) return call
  const name = (callee.property as Identifier).name
  if (callee.object.type === 'Identifier' && callee.object.name === 'Math') {
    // Optimised code does not load the function, so the member's own cost is subtracted.
    return { instructions: (own(maths, name) ?? 4) - 1, fieldLoads: -1 }
  }
  const known = own(inlined, name)
  if (known !== undefined) return { instructions: known, stores: name === 'push' ? 1 : 0 }
  return hashed.has(name) ? { instructions: 100, calls: 1, fieldLoads: 2 } : methodCall
}

/** Ignores inherited properties such as `toString`. */
function own(costs: Record<string, number>, name: string): number | undefined {
  return Object.hasOwn(costs, name) ? costs[name] : undefined
}

function constructionCost({ callee }: NewExpression): Tally {
  const typed =
    callee.type === 'Identifier' && /^(Uint|Int|Float|BigInt|BigUint)\d+(Clamped)?Array$/.test(callee.name)
  return typed ? typedArray : construction
}
