/** Functions that are metered because a list names them. */
import { type AnyNode, type Identifier, type Program, parse } from 'acorn'
import { children, type Fn, isFunction } from './tree.ts'

/** The functions of these names, and the functions inside them. */
export function listedFunctions(program: Program, names: readonly string[]): ReadonlySet<Fn> {
  const found = new Set<Fn>()
  walk(program, undefined, false, (fn, name, isInside) => {
    const isListed = isInside || (name !== undefined && names.includes(name))
    if (isListed) found.add(fn)
    return isListed
  })
  return found
}

/** Names of all functions of a module. Throws SyntaxError. */
export function functionNames(source: string): ReadonlySet<string> {
  const options = { ecmaVersion: 'latest', allowHashBang: true, allowReturnOutsideFunction: true } as const
  const names = new Set<string>()
  walk(parse(source, { ...options, sourceType: 'module' }), undefined, false, (_, name) => {
    if (name !== undefined) names.add(name)
    return false
  })
  return names
}

type Visit = (fn: Fn, name: string | undefined, isInside: boolean) => boolean

/** `visit` returns whether the functions inside this one are listed with it. */
function walk(node: AnyNode, name: string | undefined, isInside: boolean, visit: Visit): void {
  const inside = isFunction(node) ? visit(node, nameOf(node) ?? name, isInside) : isInside
  for (const part of children(node)) walk(part, givenName(node, part), inside, visit)
}

function nameOf(fn: Fn): string | undefined {
  return fn.type === 'ArrowFunctionExpression' ? undefined : fn.id?.name
}

/** The name that a variable, property or method gives to the function that is its value. */
function givenName(node: AnyNode, part: AnyNode): string | undefined {
  if (node.type === 'VariableDeclarator') return textOf(node.id)
  if (node.type === 'AssignmentExpression') return part === node.right ? textOf(node.left) : undefined
  const isMember =
    node.type === 'Property' || node.type === 'MethodDefinition' || node.type === 'PropertyDefinition'
  return isMember && part === node.value && !node.computed ? textOf(node.key) : undefined
}

function textOf(node: AnyNode): string | undefined {
  if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') return (node as Identifier).name
  if (node.type === 'MemberExpression' && !node.computed) return textOf(node.property)
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined
}
