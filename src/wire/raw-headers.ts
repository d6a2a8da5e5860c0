/** Raw headers, name and value in turn: fronts and workers preserve their order and spelling. */

const hopByHop: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
])
/** Passed on even if `connection` names them: without them the message changes its meaning. */
const essential: ReadonlySet<string> = new Set(['host', 'content-length', 'content-type'])
const none: ReadonlySet<string> = new Set()

/** `name`: in lower case. */
export function isHopByHop(name: string): boolean {
  return hopByHop.has(name) || name.startsWith('proxy-')
}

export function pairsOf(raw: readonly string[]): [name: string, value: string][] {
  const pairs: [name: string, value: string][] = []
  for (let i = 1; i < raw.length; i += 2) pairs.push([raw[i - 1]!, raw[i]!])
  return pairs
}

/** All values of a header, in their order. */
export function valuesOf(raw: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let i = 1; i < raw.length; i += 2) {
    const given = raw[i - 1]!
    if (given.length === name.length && given.toLowerCase() === name) values.push(raw[i]!)
  }
  return values
}

/** Drops hop-by-hop headers, headers named by `connection`, and `others`, except `kept`. */
export function endToEnd(
  raw: readonly string[],
  { others = none, kept = none }: { others?: ReadonlySet<string>; kept?: ReadonlySet<string> } = {},
): string[] {
  const named = valuesOf(raw, 'connection')
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !essential.has(name))
  const isDropped = (name: string) =>
    !kept.has(name) && (isHopByHop(name) || named.includes(name) || others.has(name))
  const passedOn: string[] = []
  for (let i = 1; i < raw.length; i += 2) {
    if (!isDropped(raw[i - 1]!.toLowerCase())) passedOn.push(raw[i - 1]!, raw[i]!)
  }
  return passedOn
}
