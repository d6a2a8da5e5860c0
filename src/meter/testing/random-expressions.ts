/** Generates random expressions for programs with the variables a, b and x, a list and some functions. */

/** A random integer from 0 to `below` - 1. */
export type Pick = (below: number) => number

export function one<T>(pick: Pick, choices: readonly T[]): T {
  return choices[pick(choices.length)]!
}

export const tests = [
  'i % 2',
  'x > y',
  'fuel & 4',
  'y === 3',
  "typeof x === 'string'",
  'list.length > 5',
  'a',
  '!b',
]

export function writeExpression(pick: Pick, variables: readonly string[], depth: number): string {
  const part = () => writeExpression(pick, variables, depth - 1)
  if (depth <= 0) return one(pick, [...variables, '1', '2', 'a', 'b', "'s'", `${pick(20)}`])
  switch (pick(13)) {
    case 0:
      return `${part()} ${one(pick, ['+', '-', '*', '|', '<', '===', '%'])} ${part()}`
    case 1:
      return `(${part()} ? ${part()} : ${part()})`
    case 2:
      return `(${part()} ${one(pick, ['&&', '||', '??'])} ${part()})`
    case 3:
      return `(log(${part()}), ${part()})`
    case 4:
      return `[${part()}, ${part()}].slice(${pick(3)}).join('+')`
    case 5:
      return `[${part()}, 3].fill(${part()}).concat(list).indexOf(x)`
    case 6:
      return `f${pick(2)}(${part()}, ${part()})`
    case 7:
      return `f${pick(2)}(${part()})`
    case 8:
      return `((v, w = ${part()}) => v + w)(${part()})`
    case 9:
      return `list?.[${pick(3)}]?.toString(${pick(2) + 2})`
    case 10:
      return `\`\${${part()}}-\${${part()}}\`.length`
    case 11:
      return `(${one(pick, ['x', 'y', 'a', 'b'])} ${one(pick, ['=', '+=', '??=', '||='])} ${part()})`
    default:
      return `(function () { for (let k = 0; k < 9; k++) if (${one(pick, tests)}) return k; return ${part()} })()`
  }
}
