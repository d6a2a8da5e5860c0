/** A fuzz target: code that reads bytes from outside, and what it may do with them. */

import type { Random } from '../../src/lib/random.ts'

export interface Target {
  /** Also the name of its folder in `corpus/`. */
  readonly name: string
  /** The parser under test, for people. */
  readonly about: string
  /** Part of the inputs of `all` that it gets, relative to the others. Default 1. */
  readonly weight?: number
  /** Longer inputs are cut. */
  readonly maxBytes: number
  /** CPU time that one input may take; more counts as a hang. */
  readonly cpuMs: number
  /** Words that mutations insert. */
  readonly words?: readonly string[]
  /** Makes an input by the grammar of the format. Undefined: inputs come only from mutations. */
  generate?(random: Random): Buffer
  /** Names an error that the parser may throw. Undefined: the error is a bug. */
  declared(error: unknown): string | undefined
  open(): OpenTarget | Promise<OpenTarget>
}

export interface OpenTarget {
  /** Parses an input, checks the result and returns a name for what happened. Every undeclared error is a crash. */
  run(input: Buffer): string | Promise<string>
  close?(): void | Promise<void>
}

/** The parser returned normally, but what it returned is wrong. */
export class Violation extends Error {
  override name = 'Violation'
}

/** Throws a `Violation` unless the condition holds. */
export function holds(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Violation(what)
}

/** Names errors of these classes by their code, status or class. */
export function errorsOf(...classes: (abstract new (...args: never[]) => Error)[]): Target['declared'] {
  return (error) => {
    if (!classes.some((each) => error instanceof each)) return undefined
    const { code, status, name } = error as Error & { code?: unknown; status?: unknown }
    return [name, code, status].filter((part) => part !== undefined).join(' ')
  }
}
