/** The numbers of rules in the name of a test. */

const prefixes = 'CP|TI|CN|HC|EW'

/** Names with a number of a rule. */
export const ruleName = new RegExp(`\\b(?:${prefixes})-\\d+\\b`)

/** All numbers in the name, as in `TI-6 TI-7 with few requests …; TI-8 …`; `CP-9 to CP-11` stands for three. */
export function rulesIn(name: string): string[] {
  const found = new Set<string>()
  const parts = new RegExp(`\\b(${prefixes})-(\\d+)\\b(?: to \\1-(\\d+)\\b)?`, 'g')
  for (const [, prefix, from, to] of name.matchAll(parts)) {
    for (let number = Number(from); number <= Number(to ?? from); number++) found.add(`${prefix}-${number}`)
  }
  return [...found]
}
