/** A program's command: cut into words, and told where to listen. */
import { ConfigError } from '../../errors.ts'

/** Words as a shell cuts them, with quotes and backslashes; nothing is expanded, and no shell runs. */
export function splitWords(text: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!
    const next = text[i + 1]
    if (quote === "'" || (quote === '"' && char !== '\\')) {
      if (char === quote) quote = ''
      else word += char
    } else if (char === '\\' && next !== undefined) {
      // Inside double quotes a backslash stands for itself, except before these.
      const kept = quote === '"' && !'"\\$`'.includes(next) ? char : ''
      word = (word ?? '') + kept + next
      i++
    } else if (quote === '' && (char === '"' || char === "'")) {
      quote = char
      word ??= ''
    } else if (quote === '' && /\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + char
  }
  if (quote !== '') throw new ConfigError(`command = ${text}: the quote ${quote} is not closed`)
  if (word !== undefined) words.push(word)
  return words
}

/** What a command may say in place of where to listen. */
export function placeIn(command: readonly string[]): 'port' | 'socket' | undefined {
  const has = (name: string) => command.some((word) => word.includes(name))
  return has('{socket}') ? 'socket' : has('{port}') ? 'port' : undefined
}

export function fillIn(command: readonly string[], place: { port: number } | { socket: string }): string[] {
  const [name, value] = 'port' in place ? ['{port}', `${place.port}`] : ['{socket}', place.socket]
  return command.map((word) => word.replaceAll(name, value))
}
