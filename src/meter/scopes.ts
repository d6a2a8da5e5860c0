/** Resolves names: walks through a program and tells which variable each identifier means. */
import type { AnyNode, Identifier, Program } from 'acorn'
import { type Binding, Bindings, type Owner, type Scope } from './bindings.ts'
import { children, type Fn, isFunction, namesIn } from './tree.ts'

export interface Scopes {
  /** Undefined for globals. */
  bindingOf(identifier: Identifier): Binding | undefined
  readonly bindings: readonly Binding[]
  /** Names may mean something else at run time, because of a direct eval or a `with`. */
  readonly dynamic: boolean
}

export function resolveScopes(program: Program): Scopes {
  const bindings = new Bindings()
  let dynamic = false
  let chained = false

  const assign = (scope: Scope, pattern: AnyNode): void => {
    if (pattern.type === 'Identifier') bindings.use(scope, pattern, 'write')
    else if (pattern.type === 'ObjectPattern') {
      for (const property of pattern.properties) {
        if (property.type === 'RestElement') assign(scope, property.argument)
        else {
          if (property.computed) walk(scope, property.key)
          assign(scope, property.value)
        }
      }
    } else if (pattern.type === 'ArrayPattern') {
      for (const element of pattern.elements) if (element) assign(scope, element)
    } else if (pattern.type === 'AssignmentPattern') {
      assign(scope, pattern.left)
      walk(scope, pattern.right)
    } else if (pattern.type === 'RestElement') assign(scope, pattern.argument)
    else walk(scope, pattern)
  }

  const block = (scope: Scope, owner: Owner = scope.owner): Scope => ({
    names: new Map(),
    outer: scope,
    owner,
    strict: scope.strict,
  })

  const walkFunction = (outer: Scope, fn: Fn): void => {
    const before = chained
    chained = false
    walkInside(outer, fn)
    chained = before
  }

  const walkInside = (outer: Scope, fn: Fn): void => {
    const named = block(outer, fn)
    if (fn.type === 'FunctionExpression' && fn.id) bindings.declare(named, fn.id.name, 'function')
    const scope = { ...block(named), strict: named.strict || isStrict(fn.body) }
    for (const parameter of fn.params)
      for (const name of namesIn(parameter)) bindings.declare(scope, name, 'parameter')
    for (const parameter of fn.params) {
      // Not writes: a parameter's first value is its own.
      if (parameter.type !== 'Identifier') walkPatternDefaults(scope, parameter)
    }
    if (fn.body.type !== 'BlockStatement') return walk(scope, fn.body)
    bindings.hoistVars(scope, fn.body)
    bindings.hoistBlock(scope, fn.body.body, false)
    bindings.hoistBlockFunctions(scope, fn.body)
    for (const statement of fn.body.body) walk(scope, statement)
  }

  const walkPatternDefaults = (scope: Scope, pattern: AnyNode): void => {
    if (pattern.type === 'AssignmentPattern') {
      walkPatternDefaults(scope, pattern.left)
      walk(scope, pattern.right)
    } else if (pattern.type === 'Property') {
      if (pattern.computed) walk(scope, pattern.key)
      walkPatternDefaults(scope, pattern.value)
    } else if (pattern.type !== 'Identifier') {
      for (const part of children(pattern)) walkPatternDefaults(scope, part)
    }
  }

  /** The variables of a pattern are written. */
  const bind = (scope: Scope, pattern: AnyNode, value?: AnyNode): void => {
    if (pattern.type === 'Identifier') bindings.use(scope, pattern, 'write', value)
    else if (pattern.type === 'AssignmentPattern') bind(scope, pattern.left)
    else if (pattern.type === 'Property') bind(scope, pattern.value)
    else for (const part of children(pattern)) bind(scope, part)
  }

  const walkAll = (scope: Scope, nodes: readonly (AnyNode | null | undefined)[]): void => {
    for (const node of nodes) if (node) walk(scope, node)
  }

  const walk = (scope: Scope, node: AnyNode): void => {
    if (isFunction(node)) return walkFunction(scope, node)
    switch (node.type) {
      case 'Identifier':
        return bindings.use(scope, node, 'read')
      case 'MemberExpression':
        walk(scope, node.object)
        if (node.computed) walk(scope, node.property)
        return
      case 'Property':
      case 'MethodDefinition':
      case 'PropertyDefinition':
        if (node.computed) walk(scope, node.key)
        if (node.value) walk(node.type === 'PropertyDefinition' ? block(scope, node) : scope, node.value)
        return
      case 'CallExpression':
        if (node.callee.type === 'Identifier') {
          if (node.callee.name === 'eval') dynamic = true
          bindings.use(scope, node.callee, chained ? 'read' : 'call')
        } else walk(scope, node.callee)
        return walkAll(scope, node.arguments)
      case 'ChainExpression': {
        // Whether a call in it happens is not seen from outside.
        const before = chained
        chained = true
        walk(scope, node.expression)
        chained = before
        return
      }
      case 'AssignmentExpression':
        if (node.left.type === 'Identifier')
          bindings.use(scope, node.left, 'write', node.operator === '=' ? node.right : node)
        else assign(scope, node.left)
        return walk(scope, node.right)
      case 'UpdateExpression':
        if (node.argument.type === 'Identifier') return bindings.use(scope, node.argument, 'write', node)
        return assign(scope, node.argument)
      case 'VariableDeclaration':
        for (const { id, init } of node.declarations) {
          walkPatternDefaults(scope, id)
          if (init) walk(scope, init)
          // A `var` is there before: starting it may be the second write.
          if (node.kind !== 'var' || !init) continue
          bind(scope, id, init)
        }
        return
      case 'BlockStatement':
      case 'StaticBlock': {
        const inner = block(scope, node.type === 'StaticBlock' ? node : scope.owner)
        if (node.type === 'StaticBlock') bindings.hoistVars(inner, node)
        bindings.hoistBlock(inner, node.body)
        return walkAll(inner, node.body)
      }
      case 'SwitchStatement': {
        walk(scope, node.discriminant)
        const inner = block(scope)
        for (const { consequent } of node.cases) bindings.hoistBlock(inner, consequent, true, true)
        for (const it of node.cases) walkAll(inner, [it.test, ...it.consequent])
        return
      }
      case 'ForStatement': {
        const inner = block(scope)
        if (node.init?.type === 'VariableDeclaration') bindings.hoistBlock(inner, [node.init])
        return walkAll(inner, [node.init, node.test, node.update, node.body])
      }
      case 'ForOfStatement':
      case 'ForInStatement': {
        const inner = block(scope)
        if (node.left.type === 'VariableDeclaration') {
          bindings.hoistBlock(inner, [node.left])
          walkPatternDefaults(inner, node.left.declarations[0]!.id)
          bind(inner, node.left.declarations[0]!.id)
        } else assign(inner, node.left)
        return walkAll(inner, [node.right, node.body])
      }
      case 'CatchClause': {
        const inner = block(scope)
        if (node.param) {
          for (const name of namesIn(node.param)) bindings.declare(inner, name, 'catch')
          walkPatternDefaults(inner, node.param)
        }
        return walk(inner, node.body)
      }
      case 'ClassDeclaration':
      case 'ClassExpression': {
        const inner = block(scope)
        if (node.type === 'ClassExpression' && node.id) bindings.declare(inner, node.id.name, 'class')
        return walkAll(inner, [node.superClass, node.body])
      }
      case 'LabeledStatement':
        return walk(scope, node.body)
      case 'BreakStatement':
      case 'ContinueStatement':
      case 'MetaProperty':
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
        return
      case 'ExportNamedDeclaration':
        if (node.declaration) {
          for (const name of declaredNames(node.declaration)) bindings.mark(scope, name, 'read')
          return walk(scope, node.declaration)
        }
        if (!node.source) {
          for (const { local } of node.specifiers)
            if (local.type === 'Identifier') bindings.use(scope, local, 'read')
        }
        return
      case 'ExportDefaultDeclaration':
        for (const name of declaredNames(node.declaration)) bindings.mark(scope, name, 'read')
        return walk(scope, node.declaration)
      case 'WithStatement':
        dynamic = true
        return walkAll(scope, [node.object, node.body])
      default:
        return walkAll(scope, children(node))
    }
  }

  const strict = program.sourceType === 'module' || isStrict(program)
  const top: Scope = { names: new Map(), outer: undefined, owner: program, strict }
  bindings.hoistVars(top, program)
  bindings.hoistBlock(top, program.body, false)
  bindings.hoistBlockFunctions(top, program)
  for (const statement of program.body) walk(top, statement)
  return { bindingOf: (identifier) => bindings.of(identifier), bindings: bindings.all, dynamic }
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
