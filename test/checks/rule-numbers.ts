/** The numbers of rules in the name of a test. */

/** All numbers that the name begins with, as in `TI-6 TI-7 with few requests …`; `CP-9 to CP-11` stands for three. */
export function rulesIn(name: string): string[] {
  const found: string[] = []
  const start = /^(?:[A-Z]{2}-\d+\b(?: (?:to|and)(?= [A-Z]{2}-\d))?,? ?)+/.exec(name)?.[0] ?? ''
  let isRange = false
  for (const [word, prefix, digits] of start.matchAll(/\bto\b|([A-Z]{2})-(\d+)/g)) {
    if (word === 'to') {
      isRange = true
      continue
    }
    const last = found.at(-1)?.split('-')
    const from = isRange && last?.[0] === prefix ? Number(last![1]) + 1 : Number(digits)
    for (let number = from; number <= Number(digits); number++) found.push(`${prefix}-${number}`)
    isRange = false
  }
  return found
}
