/** Questions to whoever sits at the terminal, asked again until the answer will do. */

import { createInterface } from 'node:readline/promises'
import { ConfigError } from '../../lib/errors.ts'

export interface AskOptions {
  /** An empty answer stands for this. */
  byDefault?: string
  /** Shown in its place. */
  shown?: string
  example?: string
  /** Throws what is wrong with an answer. */
  check(answer: string): void
}

export type Ask = (question: string, options: AskOptions) => Promise<string>

/** Calls `use` with a way to ask, or with none where nobody sits. Rejects if whoever sits there leaves. */
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
