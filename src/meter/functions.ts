/** The functions of a program: which functions call them, and the cost of a call. */
import type { AnyNode, CallExpression, Program } from 'acorn'
import type { Tally } from '../model/metrics.ts'
import { nativeCharge } from './native-costs.ts'
import { promotedFunctions } from './promoted-functions.ts'
import type { Scopes } from './scopes.ts'
import { costOf } from './syntax-costs.ts'
import { children, contains, type Fn, isFunction, isLoop } from './tree.ts'

export class Functions {
  readonly all: Fn[] = []
  readonly #scopes: Scopes
  readonly #isBig: (node: AnyNode) => boolean
  readonly #isUntouched: (fn: Fn) => boolean
  readonly #isListed: (fn: Fn) => boolean
  readonly #around = new Map<AnyNode, Fn>()
  /** Functions whose callers count their start, with its cost once it is known. */
  readonly #starts = new Map<Fn, Tally | undefined>()
  /** Callers of a function by name, outside of loops; undefined stands for module code. */
  readonly #callersOutsideLoops = new Map<Fn, (Fn | undefined)[]>()

  /** `isUntouched`: functions that must not be rewritten, with all that they contain. `isListed`: those to rewrite. */
  constructor(
    program: Program,
    scopes: Scopes,
    isBig: (node: AnyNode) => boolean,
    isUntouched: (fn: Fn) => boolean,
    isListed: (fn: Fn) => boolean,
  ) {
    this.#scopes = scopes
    this.#isBig = isBig
    this.#isUntouched = isUntouched
    this.#isListed = isListed
    this.#collect(program, undefined)
  }

  #collect(node: AnyNode, fn: Fn | undefined, looping = false): void {
    if (isFunction(node) && this.#isUntouched(node)) return
    const inside = isFunction(node) ? node : fn
    const loops = isLoop(node) || (looping && !isFunction(node))
    if (!loops && node.type === 'CallExpression') {
      const called = this.#called(node)
      if (called)
        this.#callersOutsideLoops.set(called, [...(this.#callersOutsideLoops.get(called) ?? []), fn])
    }
    if (isFunction(node) && this.#isListed(node)) this.all.push(node)
    if (inside && isLoop(node)) this.#around.set(node, inside)
    // Inside `with`, the meter's names could refer to members of the object.
    if (node.type === 'WithStatement') return
    for (const part of children(node)) this.#collect(part, inside, loops)
  }

  /** Lets callers count the start of functions where possible. Returns callees before their callers. */
  promote(): Fn[] {
    const promoted = promotedFunctions(this.all, this.#scopes)
    for (const fn of promoted) this.#starts.set(fn, undefined)
    return promoted
  }

  isPromoted(fn: Fn): boolean {
    return this.#starts.has(fn)
  }

  setStart(fn: Fn, tally: Tally): void {
    this.#starts.set(fn, tally)
  }

  /** The function that contains a loop. */
  around(loop: AnyNode): Fn | undefined {
    return this.#around.get(loop)
  }

  /** Whether the function is only called by name, and only inside loops of its direct or indirect callers. */
  isCalledInLoops(fn: Fn): boolean {
    if (!this.#starts.has(fn)) return false
    const callers = this.#callersOutsideLoops.get(fn) ?? []
    return callers.every((caller) => caller !== undefined && this.isCalledInLoops(caller))
  }

  calleeStart({ callee }: CallExpression): Tally | undefined {
    const fn = this.#called({ callee })
    return fn && this.#starts.get(fn)
  }

  /** Whether the cost of a call is known: no loops, no unknown calls, no native work. */
  isQuick(call: CallExpression): boolean {
    if (call.callee.type !== 'MemberExpression') {
      const fn = this.#called(call)
      return fn !== undefined && this.#starts.has(fn) && !contains(fn.body, isLoop)
    }
    return !nativeCharge(call) && !costOf(call, this.#isBig).calls
  }

  #called({ callee }: Pick<CallExpression, 'callee'>): Fn | undefined {
    const value = callee.type === 'Identifier' ? this.#scopes.bindingOf(callee)?.value : undefined
    return value && isFunction(value) ? value : undefined
  }
}
