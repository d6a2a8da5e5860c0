/** Variables: where they are declared, which variable an identifier refers to, and how they are used. */
import type { AnyNode, Identifier, Program } from 'acorn'
import { children, type Fn, isFunction, namesIn } from './tree.ts'

export interface Binding {
  readonly name: string
  readonly owner: Owner
  readonly kind: 'const' | 'let' | 'var' | 'function' | 'class' | 'parameter' | 'import' | 'catch'
  /** The initial function or expression, if it is known. */
  value?: AnyNode
  readonly uses: Use[]
  /** End of the temporal dead zone, as a position in the source; -1 if there is none. */
  readonly declaredAt: number
}

/** Code with an execution context of its own: functions, the program, field initializers and static blocks. */
export type Owner = Fn | Program | Extract<AnyNode, { type: 'PropertyDefinition' | 'StaticBlock' }>

export interface Use {
  readonly node: Identifier
  readonly kind: 'read' | 'write' | 'call'
  readonly by: Owner
  /** For a plain assignment, the assigned expression; for `i++`, `i += 2` and so on, the whole expression. */
  readonly value?: AnyNode
}

export interface Scope {
  readonly names: Map<string, Binding>
  readonly outer: Scope | undefined
  readonly owner: Owner
  readonly strict: boolean
}

const noNode: Identifier = { type: 'Identifier', name: '', start: -1, end: -1 }

export class Bindings {
  readonly all: Binding[] = []
  readonly #resolved = new Map<Identifier, Binding>()

  of(identifier: Identifier): Binding | undefined {
    return this.#resolved.get(identifier)
  }

  declare(scope: Scope, name: string, kind: Binding['kind'], value?: AnyNode | null, declaredAt = -1): void {
    const known = scope.names.get(name)
    if (known) {
      // Declared twice (`var`, functions): the initial value is ambiguous.
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

  /** Records a use that has no identifier node. */
  mark(scope: Scope, name: string, kind: Use['kind']): void {
    lookUp(scope, name)?.uses.push({ node: noNode, kind, by: scope.owner })
  }

  /** Declares the names that are visible in the whole block. `skippable`: later code may run without this block. */
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
        // Sloppy code may also call it through the variable of the enclosing function.
        if (nested && !scope.strict) this.mark(scope, statement.id.name, 'read')
      } else if (statement.type === 'ClassDeclaration' && statement.id)
        this.declare(scope, statement.id.name, 'class')
      else if (statement.type === 'ImportDeclaration') {
        for (const { local } of statement.specifiers) this.declare(scope, local.name, 'import')
      }
    }
  }

  #hoistVariables(scope: Scope, node: AnyNode, skippable = false): void {
    if (node.type !== 'VariableDeclaration') return
    for (const { id, init, end } of node.declarations) {
      const kind = node.kind === 'const' || node.kind === 'var' ? node.kind : 'let'
      const at = kind === 'var' ? -1 : skippable ? Number.POSITIVE_INFINITY : end
      if (id.type === 'Identifier') this.declare(scope, id.name, kind, init, at)
      else for (const name of namesIn(id)) this.declare(scope, name, kind, undefined, at)
    }
  }

  /** Declares every `var` of a function, including those in its blocks. */
  hoistVars(scope: Scope, node: AnyNode): void {
    for (const part of children(node)) {
      if (part.type === 'VariableDeclaration' && part.kind === 'var') this.#hoistVariables(scope, part)
      if (!isFunction(part) && part.type !== 'StaticBlock') this.hoistVars(scope, part)
    }
  }

  /** In sloppy code, entering a block assigns its functions to variables of the enclosing function. */
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
