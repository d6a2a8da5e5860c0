/** Questions on the terminal, repeated until the answer is valid. */

import { createInterface } from 'node:readline/promises'
import { ConfigError } from '../../lib/errors.ts'

export interface AskOptions {
  /** Used for an empty answer. */
  byDefault?: string
  /** Shown in place of the default. */
  shown?: string
  example?: string
  /** Throws if the answer is invalid. */
  check(answer: string): void
}

export type Ask = (question: string, options: AskOptions) => Promise<string>

/** Calls `use` with a function that asks; without a terminal, with undefined. Rejects when the input ends. */
export async function askOnTerminal<T>(use: (ask: Ask | undefined) => Promise<T>): Promise<T> {
  const { stdin, stdout } = process
  if (!stdin.isTTY || !stdout.isTTY) return use(undefined)
  const lines = createInterface({ input: stdin, output: stdout })
  const left = Promise.withResolvers<never>()
  lines.once('close', () => left.reject(new ConfigError('nothing was written')))
  left.promise.catch(() => {})
  const ask: Ask = async (question, { byDefault, shown, example, check }) => {
    const hint = example
      ? ` For example: ${example}`
      : byDefault === undefined
        ? ''
        : ` [${shown ?? byDefault}]`
    for (;;) {
      const given = await Promise.race([lines.question(`${question}${hint}\n> `), left.promise])
      const answer = given.trim() || byDefault || ''
      try {
        check(answer)
        return answer
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        console.log(error.message)
      }
    }
  }
  try {
    return await use(ask)
  } finally {
    lines.close()
  }
}
