/** Resolves names: finds the variable that each identifier refers to. */
import type { AnyNode, Identifier, Program } from 'acorn'
import { type Binding, Bindings, type Owner, type Scope } from './bindings.ts'
import { children, type Fn, isFunction, namesIn } from './tree.ts'

export interface Scopes {
  /** Undefined for globals. */
  bindingOf(identifier: Identifier): Binding | undefined
  readonly bindings: readonly Binding[]
  /** Names may refer to something else at run time, because of a direct `eval` or a `with`. */
  readonly dynamic: boolean
}

export function resolveScopes(program: Program): Scopes {
  const resolver = new ScopeResolver()
  resolver.program(program)
  const { bindings, dynamic } = resolver
  return { bindingOf: (identifier) => bindings.of(identifier), bindings: bindings.all, dynamic }
}

type NodeOf<T extends AnyNode['type']> = Extract<AnyNode, { type: T }>
type Handlers = {
  readonly [T in AnyNode['type']]?: (resolver: ScopeResolver, scope: Scope, node: NodeOf<T>) => void
}

class ScopeResolver {
  readonly bindings = new Bindings()
  dynamic = false
  /** Inside of an optional chain, where a call may not happen. */
  chained = false

  program(program: Program): void {
    const strict = program.sourceType === 'module' || isStrict(program)
    const top: Scope = { names: new Map(), outer: undefined, owner: program, strict }
    this.bindings.hoistVars(top, program)
    this.bindings.hoistBlock(top, program.body, false)
    this.bindings.hoistBlockFunctions(top, program)
    this.walkAll(top, program.body)
  }

  walk(scope: Scope, node: AnyNode): void {
    if (isFunction(node)) return this.#function(scope, node)
    const handler = handlers[node.type] as
      | ((resolver: ScopeResolver, scope: Scope, node: AnyNode) => void)
      | undefined
    if (handler) handler(this, scope, node)
    else this.walkAll(scope, children(node))
  }

  walkAll(scope: Scope, nodes: readonly (AnyNode | null | undefined)[]): void {
    for (const node of nodes) if (node) this.walk(scope, node)
  }

  /** Walks the expressions inside a pattern: default values and computed keys. */
  walkPattern(scope: Scope, pattern: AnyNode): void {
    if (pattern.type === 'AssignmentPattern') {
      this.walkPattern(scope, pattern.left)
      this.walk(scope, pattern.right)
    } else if (pattern.type === 'Property') {
      if (pattern.computed) this.walk(scope, pattern.key)
      this.walkPattern(scope, pattern.value)
    } else if (pattern.type !== 'Identifier') {
      for (const part of children(pattern)) this.walkPattern(scope, part)
    }
  }

  /** Records an assignment to a pattern, and walks the expressions in it. */
  assign(scope: Scope, pattern: AnyNode): void {
    if (pattern.type === 'Identifier') this.bindings.use(scope, pattern, 'write')
    else if (pattern.type === 'ObjectPattern') {
      for (const property of pattern.properties) {
        if (property.type === 'RestElement') this.assign(scope, property.argument)
        else {
          if (property.computed) this.walk(scope, property.key)
          this.assign(scope, property.value)
        }
      }
    } else if (pattern.type === 'ArrayPattern') {
      for (const element of pattern.elements) if (element) this.assign(scope, element)
    } else if (pattern.type === 'AssignmentPattern') {
      this.assign(scope, pattern.left)
      this.walk(scope, pattern.right)
    } else if (pattern.type === 'RestElement') this.assign(scope, pattern.argument)
    else this.walk(scope, pattern)
  }

  /** Records that the variables of a pattern are written. */
  bind(scope: Scope, pattern: AnyNode, value?: AnyNode): void {
    if (pattern.type === 'Identifier') this.bindings.use(scope, pattern, 'write', value)
    else if (pattern.type === 'AssignmentPattern') this.bind(scope, pattern.left)
    else if (pattern.type === 'Property') this.bind(scope, pattern.value)
    else for (const part of children(pattern)) this.bind(scope, part)
  }

  /** Sets `chained` while `walk` runs. */
  within(chained: boolean, walk: () => void): void {
    const before = this.chained
    this.chained = chained
    walk()
    this.chained = before
  }

  #function(outer: Scope, fn: Fn): void {
    this.within(false, () => this.#functionBody(outer, fn))
  }

  #functionBody(outer: Scope, fn: Fn): void {
    const { bindings } = this
    const named = blockIn(outer, fn)
    if (fn.type === 'FunctionExpression' && fn.id) bindings.declare(named, fn.id.name, 'function')
    const scope = { ...blockIn(named), strict: named.strict || isStrict(fn.body) }
    for (const parameter of fn.params)
      for (const name of namesIn(parameter)) bindings.declare(scope, name, 'parameter')
    for (const parameter of fn.params) {
      // The initial value of a parameter does not count as a write.
      if (parameter.type !== 'Identifier') this.walkPattern(scope, parameter)
    }
    if (fn.body.type !== 'BlockStatement') return this.walk(scope, fn.body)
    bindings.hoistVars(scope, fn.body)
    bindings.hoistBlock(scope, fn.body.body, false)
    bindings.hoistBlockFunctions(scope, fn.body)
    this.walkAll(scope, fn.body.body)
  }
}

/** Node types without a handler are walked part by part. */
const handlers: Handlers = {
  Identifier: ({ bindings }, scope, node) => bindings.use(scope, node, 'read'),
  MemberExpression(resolver, scope, node) {
    resolver.walk(scope, node.object)
    if (node.computed) resolver.walk(scope, node.property)
  },
  Property: walkProperty,
  MethodDefinition: walkProperty,
  PropertyDefinition: walkProperty,
  CallExpression(resolver, scope, node) {
    if (node.callee.type === 'Identifier') {
      if (node.callee.name === 'eval') resolver.dynamic = true
      resolver.bindings.use(scope, node.callee, resolver.chained ? 'read' : 'call')
    } else resolver.walk(scope, node.callee)
    resolver.walkAll(scope, node.arguments)
  },
  ChainExpression: (resolver, scope, node) =>
    resolver.within(true, () => resolver.walk(scope, node.expression)),
  AssignmentExpression(resolver, scope, node) {
    if (node.left.type === 'Identifier')
      resolver.bindings.use(scope, node.left, 'write', node.operator === '=' ? node.right : node)
    else resolver.assign(scope, node.left)
    resolver.walk(scope, node.right)
  },
  UpdateExpression(resolver, scope, node) {
    if (node.argument.type === 'Identifier') resolver.bindings.use(scope, node.argument, 'write', node)
    else resolver.assign(scope, node.argument)
  },
  VariableDeclaration(resolver, scope, node) {
    for (const { id, init } of node.declarations) {
      resolver.walkPattern(scope, id)
      if (init) resolver.walk(scope, init)
      // A `var` is hoisted, so that its initializer may be its second write.
      if (node.kind === 'var' && init) resolver.bind(scope, id, init)
    }
  },
  BlockStatement: walkBlock,
  StaticBlock: walkBlock,
  SwitchStatement(resolver, scope, node) {
    resolver.walk(scope, node.discriminant)
    const inner = blockIn(scope)
    for (const { consequent } of node.cases) resolver.bindings.hoistBlock(inner, consequent, true, true)
    for (const it of node.cases) resolver.walkAll(inner, [it.test, ...it.consequent])
  },
  ForStatement(resolver, scope, node) {
    const inner = blockIn(scope)
    if (node.init?.type === 'VariableDeclaration') resolver.bindings.hoistBlock(inner, [node.init])
    resolver.walkAll(inner, [node.init, node.test, node.update, node.body])
  },
  ForOfStatement: walkForEach,
  ForInStatement: walkForEach,
  CatchClause(resolver, scope, node) {
    const inner = blockIn(scope)
    if (node.param) {
      for (const name of namesIn(node.param)) resolver.bindings.declare(inner, name, 'catch')
      resolver.walkPattern(inner, node.param)
    }
    resolver.walk(inner, node.body)
  },
  ClassDeclaration: walkClass,
  ClassExpression: walkClass,
  LabeledStatement: (resolver, scope, node) => resolver.walk(scope, node.body),
  BreakStatement: ignore,
  ContinueStatement: ignore,
  MetaProperty: ignore,
  ImportDeclaration: ignore,
  ExportAllDeclaration: ignore,
  ExportNamedDeclaration(resolver, scope, node) {
    if (node.declaration) return walkExported(resolver, scope, node.declaration)
    if (node.source) return
    for (const { local } of node.specifiers)
      if (local.type === 'Identifier') resolver.bindings.use(scope, local, 'read')
  },
  ExportDefaultDeclaration: (resolver, scope, node) => walkExported(resolver, scope, node.declaration),
  WithStatement(resolver, scope, node) {
    resolver.dynamic = true
    resolver.walkAll(scope, [node.object, node.body])
  },
}

function ignore(): void {}

function walkProperty(
  resolver: ScopeResolver,
  scope: Scope,
  node: NodeOf<'Property' | 'MethodDefinition' | 'PropertyDefinition'>,
): void {
  if (node.computed) resolver.walk(scope, node.key)
  if (!node.value) return
  resolver.walk(node.type === 'PropertyDefinition' ? blockIn(scope, node) : scope, node.value)
}

function walkBlock(
  resolver: ScopeResolver,
  scope: Scope,
  node: NodeOf<'BlockStatement' | 'StaticBlock'>,
): void {
  const inner = blockIn(scope, node.type === 'StaticBlock' ? node : scope.owner)
  if (node.type === 'StaticBlock') resolver.bindings.hoistVars(inner, node)
  resolver.bindings.hoistBlock(inner, node.body)
  resolver.walkAll(inner, node.body)
}

function walkForEach(
  resolver: ScopeResolver,
  scope: Scope,
  node: NodeOf<'ForOfStatement' | 'ForInStatement'>,
): void {
  const inner = blockIn(scope)
  if (node.left.type === 'VariableDeclaration') {
    resolver.bindings.hoistBlock(inner, [node.left])
    resolver.walkPattern(inner, node.left.declarations[0]!.id)
    resolver.bind(inner, node.left.declarations[0]!.id)
  } else resolver.assign(inner, node.left)
  resolver.walkAll(inner, [node.right, node.body])
}

function walkClass(
  resolver: ScopeResolver,
  scope: Scope,
  node: NodeOf<'ClassDeclaration' | 'ClassExpression'>,
): void {
  const inner = blockIn(scope)
  if (node.type === 'ClassExpression' && node.id) resolver.bindings.declare(inner, node.id.name, 'class')
  resolver.walkAll(inner, [node.superClass, node.body])
}

/** Other modules may read what is exported. */
function walkExported(resolver: ScopeResolver, scope: Scope, declaration: AnyNode): void {
  for (const name of declaredNames(declaration)) resolver.bindings.mark(scope, name, 'read')
  resolver.walk(scope, declaration)
}

function blockIn(scope: Scope, owner: Owner = scope.owner): Scope {
  return { names: new Map(), outer: scope, owner, strict: scope.strict }
}

function isStrict(body: AnyNode): boolean {
  if (body.type !== 'Program' && body.type !== 'BlockStatement') return false
  return body.body.some((it) => it.type === 'ExpressionStatement' && it.directive === 'use strict')
}

function declaredNames(declaration: AnyNode): string[] {
  if (declaration.type === 'VariableDeclaration') {
    return declaration.declarations.flatMap(({ id }) => namesIn(id))
  }
  const { id } = declaration as { id?: Identifier | null }
  return id ? [id.name] : []
}
