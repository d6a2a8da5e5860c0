/** Splits a command line into arguments as a shell would, without running one. */

import { ConfigError } from '../lib/errors.ts'

/** Shell syntax. */
const shellOnly = /[|&;<>()$`\n]/

/** `option` names it in errors. */
export function splitWords(option: string, line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  const refuse = (why: string) => new ConfigError(`${option} = ${line}: ${why}`)
  for (let at = 0; at < line.length; at++) {
    const letter = line[at]!
    if (quote !== '') {
      if (letter === quote) quote = ''
      else if (letter === '\\' && quote === '"' && /["\\$`]/.test(line[at + 1] ?? '')) word += line[++at]!
      else word += letter
    } else if (letter === '"' || letter === "'") {
      quote = letter
      word ??= ''
    } else if (letter === '\\') {
      if (at + 1 === line.length) throw refuse('must not end with a backslash')
      word = (word ?? '') + line[++at]!
    } else if (/[ \t]/.test(letter)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (shellOnly.test(letter)) {
      const shell = `['sh', '-c', …]`
      throw refuse(
        `${JSON.stringify(letter)} is shell syntax, but no shell is used; quote it, or use ${shell}`,
      )
    } else word = (word ?? '') + letter
  }
  if (quote !== '') throw refuse(`a ${quote} is not closed`)
  if (word !== undefined) words.push(word)
  return words
}
