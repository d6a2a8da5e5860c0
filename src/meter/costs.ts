/**
 * What one piece of syntax costs by itself, without its parts: about as many machine instructions as V8's optimised
 * code spends on it, and its memory accesses. Changing a number here changes what a unit of work is.
 */
import type { AnyNode, CallExpression, Identifier, NewExpression } from 'acorn'
import type { Tally } from './metrics.ts'

const nothing: Tally = {}
const one: Tally = { instructions: 1 }
const stackLoad: Tally = { stackLoads: 1 }
const load: Tally = { instructions: 1, fieldLoads: 1 }
const elementLoad: Tally = { instructions: 2, fieldLoads: 1 }
const call: Tally = { instructions: 6, calls: 1 }
const construction: Tally = { instructions: 20, allocations: 1, calls: 1 }
const closure: Tally = { instructions: 12, allocations: 1 }
const bigOperation: Tally = { instructions: 60, allocations: 1 }

const operators: Record<string, Tally> = {
  '/': { instructions: 4 },
  '%': { instructions: 10 },
  '**': { instructions: 40 },
  in: { instructions: 20 },
  instanceof: { instructions: 10 },
}

/** Functions of Math that are more than an instruction or two; the others are. */
const maths: Record<string, number> = {
  sqrt: 5,
  round: 3,
  hypot: 30,
  ...Object.fromEntries(
    ['acos', 'acosh', 'asin', 'asinh', 'atan', 'atan2', 'atanh', 'cbrt', 'cos', 'cosh', 'exp', 'expm1', 'log']
      .concat(['log10', 'log1p', 'log2', 'pow', 'sin', 'sinh', 'tan', 'tanh'])
      .map((name) => [name, 40]),
  ),
  random: 10,
}

/** Methods that the optimising compiler puts in place of a call. */
const inlined: Record<string, number> = {
  charCodeAt: 4,
  codePointAt: 6,
  at: 4,
  push: 6,
  pop: 5,
  getUint8: 2,
  getUint16: 2,
  getUint32: 2,
  setUint8: 2,
  setUint16: 2,
  setUint32: 2,
}

/** Methods of hash tables. */
const hashed = new Set(['get', 'set', 'has', 'delete', 'add'])

/** `isBig` tells expressions that are BigInts. */
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
      return node.argument.type === 'MemberExpression' ? { instructions: 1, stores: 1 } : one
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
        instructions: 6 + 2 * node.properties.length,
        stores: node.properties.length,
        allocations: 1,
      }
    case 'ArrayExpression':
      return { instructions: 6 + node.elements.length, stores: node.elements.length, allocations: 1 }
    case 'TemplateLiteral':
      return node.expressions.length === 0
        ? nothing
        : { instructions: 10 * node.expressions.length, allocations: 1 }
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return closure
    case 'ClassExpression':
    case 'ClassDeclaration':
      return { instructions: 100, allocations: 2 }
    case 'SpreadElement':
      return { instructions: 20, allocations: 1 }
    case 'YieldExpression':
    case 'AwaitExpression':
      return { instructions: 50, calls: 1 }
    case 'ThrowStatement':
      return { instructions: 200, allocations: 1 }
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'LogicalExpression':
    case 'SwitchCase':
    case 'VariableDeclarator':
    case 'ReturnStatement':
      return one
    case 'ForOfStatement':
    case 'ForInStatement':
      return { instructions: 6, fieldLoads: 1 }
    default:
      return node.type === 'Literal' && node.regex ? { instructions: 20, allocations: 1 } : nothing
  }
}

function assignment(
  node: Extract<AnyNode, { type: 'AssignmentExpression' }>,
  isBig: (node: AnyNode) => boolean,
): Tally {
  const stores = node.left.type === 'MemberExpression'
  const operator = node.operator.slice(0, -1)
  const big = operator !== '' && (isBig(node.right) || isBig(node.left))
  const { instructions = 0 } = big ? bigOperation : (operators[operator] ?? one)
  if (!stores) return { instructions, ...(big && { allocations: 1 }) }
  // Without an operator the member is not read: its own cost is taken back.
  return { instructions, stores: 1, fieldLoads: operator === '' ? -1 : 0 }
}

function callCost({ callee }: CallExpression): Tally {
  if (callee.type !== 'MemberExpression' || callee.computed) return call
  const name = (callee.property as Identifier).name
  if (callee.object.type === 'Identifier' && callee.object.name === 'Math') {
    // What is loaded is known when the code is optimised: the member's own cost is taken back.
    return { instructions: (own(maths, name) ?? 1) - 1, fieldLoads: -1 }
  }
  const known = own(inlined, name)
  if (known !== undefined) return { instructions: known, stores: name === 'push' ? 1 : 0 }
  return hashed.has(name) ? { instructions: 25, calls: 1, fieldLoads: 2 } : call
}

/** Not what all objects have, such as `toString`. */
function own(costs: Record<string, number>, name: string): number | undefined {
  return Object.hasOwn(costs, name) ? costs[name] : undefined
}

function constructionCost({ callee }: NewExpression): Tally {
  const typed =
    callee.type === 'Identifier' && /^(Uint|Int|Float|BigInt|BigUint)\d+(Clamped)?Array$/.test(callee.name)
  return typed ? { instructions: 200, allocations: 1, calls: 1 } : construction
}
