/** Resolves names: which variable an identifier means, who writes it, who calls it. */
import type { AnyNode, Identifier, Program } from 'acorn'
import { children, type Fn, isFunction, namesIn } from './tree.ts'

export interface Binding {
  readonly name: string
  /** The function, or the program, whose variable it is. */
  readonly owner: Owner
  readonly kind: 'const' | 'let' | 'var' | 'function' | 'class' | 'parameter' | 'import' | 'catch'
  /** The function or expression it starts with, if that is plain to see. */
  value?: AnyNode
  readonly uses: Use[]
  /** Before this place it must not be touched; -1 if it always may be. */
  readonly declaredAt: number
}

/** Code that runs by itself: functions, the program, and what a class does for its fields. */
export type Owner = Fn | Program | Extract<AnyNode, { type: 'PropertyDefinition' | 'StaticBlock' }>

export interface Use {
  readonly node: Identifier
  readonly kind: 'read' | 'write' | 'call'
  readonly by: Owner
  /** Of a plain assignment: what is written. Of `i++`, `i += 2` and the like: the whole expression. */
  readonly value?: AnyNode
}

export interface Scopes {
  /** Undefined for globals. */
  bindingOf(identifier: Identifier): Binding | undefined
  readonly bindings: readonly Binding[]
  /** Names may mean something else at run time, because of a direct eval or a `with`. */
  readonly dynamic: boolean
}

const nowhere: Identifier = { type: 'Identifier', name: '', start: -1, end: -1 }

interface Scope {
  readonly names: Map<string, Binding>
  readonly outer: Scope | undefined
  readonly owner: Owner
  readonly strict: boolean
}

export function resolveScopes(program: Program): Scopes {
  const resolved = new Map<Identifier, Binding>()
  const bindings: Binding[] = []
  let dynamic = false

  const declare = (
    scope: Scope,
    name: string,
    kind: Binding['kind'],
    value?: AnyNode | null,
    declaredAt = -1,
  ): void => {
    const known = scope.names.get(name)
    if (known) {
      // Declared again (`var`, functions): what it starts with is no longer plain.
      delete known.value
      return
    }
    const binding: Binding = { name, owner: scope.owner, kind, uses: [], declaredAt, ...(value && { value }) }
    scope.names.set(name, binding)
    bindings.push(binding)
  }

  const use = (scope: Scope, node: Identifier, kind: Use['kind'], value?: AnyNode): void => {
    for (let at: Scope | undefined = scope; at; at = at.outer) {
      const binding = at.names.get(node.name)
      if (!binding) continue
      binding.uses.push({ node, kind, by: scope.owner, ...(value && { value }) })
      resolved.set(node, binding)
      return
    }
  }

  /** Declarations that hold in all of a block. */
  const hoistBlock = (
    scope: Scope,
    statements: readonly AnyNode[],
    nested = true,
    skippable = false,
  ): void => {
    for (const it of statements) {
      const statement =
        (it.type === 'ExportNamedDeclaration' || it.type === 'ExportDefaultDeclaration') && it.declaration
          ? it.declaration
          : it
      if (statement.type === 'VariableDeclaration' && statement.kind !== 'var')
        hoistVariables(scope, statement, skippable)
      else if (statement.type === 'FunctionDeclaration' && statement.id) {
        declare(scope, statement.id.name, 'function', statement)
        // What was a variable too may be called by that.
        if (nested && !scope.strict) mark(scope, statement.id.name, 'read')
      } else if (statement.type === 'ClassDeclaration' && statement.id)
        declare(scope, statement.id.name, 'class')
      else if (statement.type === 'ImportDeclaration') {
        for (const { local } of statement.specifiers) declare(scope, local.name, 'import')
      }
    }
  }

  /** Skippable: what comes after may run without it. */
  const hoistVariables = (scope: Scope, node: AnyNode, skippable = false): void => {
    if (node.type !== 'VariableDeclaration') return
    for (const { id, init, end } of node.declarations) {
      const kind = node.kind === 'const' || node.kind === 'var' ? node.kind : 'let'
      const at = kind === 'var' ? -1 : skippable ? Number.POSITIVE_INFINITY : end
      if (id.type === 'Identifier') declare(scope, id.name, kind, init, at)
      else for (const name of namesIn(id)) declare(scope, name, kind, undefined, at)
    }
  }

  /** `var` anywhere in a function, blocks included; sloppy functions in blocks are variables there too. */
  const hoistVars = (scope: Scope, node: AnyNode): void => {
    for (const part of children(node)) {
      if (part.type === 'VariableDeclaration' && part.kind === 'var') hoistVariables(scope, part)
      if (!isFunction(part) && part.type !== 'StaticBlock') hoistVars(scope, part)
    }
  }

  /** In sloppy code a function in a block becomes, when the block is entered, a variable of the function around. */
  const hoistBlockFunctions = (scope: Scope, node: AnyNode, nested = false): void => {
    if (scope.strict) return
    for (const part of children(node)) {
      if (part.type === 'FunctionDeclaration' && part.id && nested) {
        if (!scope.names.has(part.id.name)) declare(scope, part.id.name, 'var')
        use(scope, part.id, 'write')
      }
      if (!isFunction(part) && part.type !== 'StaticBlock') hoistBlockFunctions(scope, part, true)
    }
  }

  const assign = (scope: Scope, pattern: AnyNode): void => {
    if (pattern.type === 'Identifier') use(scope, pattern, 'write')
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
    const named = block(outer, fn)
    if (fn.type === 'FunctionExpression' && fn.id) declare(named, fn.id.name, 'function')
    const scope = { ...block(named), strict: named.strict || isStrict(fn.body) }
    for (const parameter of fn.params)
      for (const name of namesIn(parameter)) declare(scope, name, 'parameter')
    for (const parameter of fn.params) {
      // Not writes: a parameter's first value is its own.
      if (parameter.type !== 'Identifier') walkPatternDefaults(scope, parameter)
    }
    if (fn.body.type !== 'BlockStatement') return walk(scope, fn.body)
    hoistVars(scope, fn.body)
    hoistBlock(scope, fn.body.body, false)
    hoistBlockFunctions(scope, fn.body)
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
    if (pattern.type === 'Identifier') use(scope, pattern, 'write', value)
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
        return use(scope, node, 'read')
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
          use(scope, node.callee, 'call')
        } else walk(scope, node.callee)
        return walkAll(scope, node.arguments)
      case 'AssignmentExpression':
        if (node.left.type === 'Identifier')
          use(scope, node.left, 'write', node.operator === '=' ? node.right : node)
        else assign(scope, node.left)
        return walk(scope, node.right)
      case 'UpdateExpression':
        if (node.argument.type === 'Identifier') return use(scope, node.argument, 'write', node)
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
        if (node.type === 'StaticBlock') hoistVars(inner, node)
        hoistBlock(inner, node.body)
        return walkAll(inner, node.body)
      }
      case 'SwitchStatement': {
        walk(scope, node.discriminant)
        const inner = block(scope)
        for (const { consequent } of node.cases) hoistBlock(inner, consequent, true, true)
        for (const it of node.cases) walkAll(inner, [it.test, ...it.consequent])
        return
      }
      case 'ForStatement': {
        const inner = block(scope)
        if (node.init?.type === 'VariableDeclaration') hoistBlock(inner, [node.init])
        return walkAll(inner, [node.init, node.test, node.update, node.body])
      }
      case 'ForOfStatement':
      case 'ForInStatement': {
        const inner = block(scope)
        if (node.left.type === 'VariableDeclaration') {
          hoistBlock(inner, [node.left])
          walkPatternDefaults(inner, node.left.declarations[0]!.id)
          bind(inner, node.left.declarations[0]!.id)
        } else assign(inner, node.left)
        return walkAll(inner, [node.right, node.body])
      }
      case 'CatchClause': {
        const inner = block(scope)
        if (node.param) {
          for (const name of namesIn(node.param)) declare(inner, name, 'catch')
          walkPatternDefaults(inner, node.param)
        }
        return walk(inner, node.body)
      }
      case 'ClassDeclaration':
      case 'ClassExpression': {
        const inner = block(scope)
        if (node.type === 'ClassExpression' && node.id) declare(inner, node.id.name, 'class')
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
          for (const name of declaredNames(node.declaration)) mark(scope, name, 'read')
          return walk(scope, node.declaration)
        }
        if (!node.source) {
          for (const { local } of node.specifiers) if (local.type === 'Identifier') use(scope, local, 'read')
        }
        return
      case 'ExportDefaultDeclaration':
        for (const name of declaredNames(node.declaration)) mark(scope, name, 'read')
        return walk(scope, node.declaration)
      case 'WithStatement':
        dynamic = true
        return walkAll(scope, [node.object, node.body])
      default:
        return walkAll(scope, children(node))
    }
  }

  const lookUp = (scope: Scope, name: string): Binding | undefined => {
    for (let at: Scope | undefined = scope; at; at = at.outer) {
      const binding = at.names.get(name)
      if (binding) return binding
    }
    return undefined
  }
  /** A use that no identifier of its own stands for. */
  const mark = (scope: Scope, name: string, kind: Use['kind']): void => {
    lookUp(scope, name)?.uses.push({ node: nowhere, kind, by: scope.owner })
  }

  const strict = program.sourceType === 'module' || isStrict(program)
  const top: Scope = { names: new Map(), outer: undefined, owner: program, strict }
  hoistVars(top, program)
  hoistBlock(top, program.body, false)
  hoistBlockFunctions(top, program)
  for (const statement of program.body) walk(top, statement)
  return { bindingOf: (identifier) => resolved.get(identifier), bindings, dynamic }
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
