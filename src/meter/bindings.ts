/** Variables: where they are declared, which one an identifier means, and who uses them how. */
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

export interface Scope {
  readonly names: Map<string, Binding>
  readonly outer: Scope | undefined
  readonly owner: Owner
  readonly strict: boolean
}

const nowhere: Identifier = { type: 'Identifier', name: '', start: -1, end: -1 }

export class Bindings {
  readonly all: Binding[] = []
  readonly #resolved = new Map<Identifier, Binding>()

  of(identifier: Identifier): Binding | undefined {
    return this.#resolved.get(identifier)
  }

  declare(scope: Scope, name: string, kind: Binding['kind'], value?: AnyNode | null, declaredAt = -1): void {
    const known = scope.names.get(name)
    if (known) {
      // Declared again (`var`, functions): what it starts with is no longer plain.
      delete known.value
      return
    }
    const binding: Binding = { name, owner: scope.owner, kind, uses: [], declaredAt, ...(value && { value }) }
    scope.names.set(name, binding)
    this.all.push(binding)
  }

  use(scope: Scope, node: Identifier, kind: Use['kind'], value?: AnyNode): void {
    const binding = lookUp(scope, node.name)
    if (!binding) return
    binding.uses.push({ node, kind, by: scope.owner, ...(value && { value }) })
    this.#resolved.set(node, binding)
  }

  /** A use that no identifier of its own stands for. */
  mark(scope: Scope, name: string, kind: Use['kind']): void {
    lookUp(scope, name)?.uses.push({ node: nowhere, kind, by: scope.owner })
  }

  /** Declarations that hold in all of a block. */
  hoistBlock(scope: Scope, statements: readonly AnyNode[], nested = true, skippable = false): void {
    for (const it of statements) {
      const statement =
        (it.type === 'ExportNamedDeclaration' || it.type === 'ExportDefaultDeclaration') && it.declaration
          ? it.declaration
          : it
      if (statement.type === 'VariableDeclaration' && statement.kind !== 'var')
        this.#hoistVariables(scope, statement, skippable)
      else if (statement.type === 'FunctionDeclaration' && statement.id) {
        this.declare(scope, statement.id.name, 'function', statement)
        // What was a variable too may be called by that.
        if (nested && !scope.strict) this.mark(scope, statement.id.name, 'read')
      } else if (statement.type === 'ClassDeclaration' && statement.id)
        this.declare(scope, statement.id.name, 'class')
      else if (statement.type === 'ImportDeclaration') {
        for (const { local } of statement.specifiers) this.declare(scope, local.name, 'import')
      }
    }
  }

  /** Skippable: what comes after may run without it. */
  #hoistVariables(scope: Scope, node: AnyNode, skippable = false): void {
    if (node.type !== 'VariableDeclaration') return
    for (const { id, init, end } of node.declarations) {
      const kind = node.kind === 'const' || node.kind === 'var' ? node.kind : 'let'
      const at = kind === 'var' ? -1 : skippable ? Number.POSITIVE_INFINITY : end
      if (id.type === 'Identifier') this.declare(scope, id.name, kind, init, at)
      else for (const name of namesIn(id)) this.declare(scope, name, kind, undefined, at)
    }
  }

  /** `var` anywhere in a function, blocks included; sloppy functions in blocks are variables there too. */
  hoistVars(scope: Scope, node: AnyNode): void {
    for (const part of children(node)) {
      if (part.type === 'VariableDeclaration' && part.kind === 'var') this.#hoistVariables(scope, part)
      if (!isFunction(part) && part.type !== 'StaticBlock') this.hoistVars(scope, part)
    }
  }

  /** In sloppy code a function in a block becomes, when the block is entered, a variable of the function around. */
  hoistBlockFunctions(scope: Scope, node: AnyNode, nested = false): void {
    if (scope.strict) return
    for (const part of children(node)) {
      if (part.type === 'FunctionDeclaration' && part.id && nested) {
        if (!scope.names.has(part.id.name)) this.declare(scope, part.id.name, 'var')
        this.use(scope, part.id, 'write')
      }
      if (!isFunction(part) && part.type !== 'StaticBlock') this.hoistBlockFunctions(scope, part, true)
    }
  }
}

function lookUp(scope: Scope, name: string): Binding | undefined {
  for (let at: Scope | undefined = scope; at; at = at.outer) {
    const binding = at.names.get(name)
    if (binding) return binding
  }
  return undefined
}
