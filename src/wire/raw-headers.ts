/** Raw headers, name and value in turn: fronts and workers preserve their order and spelling. */

const hopByHop: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
])
/** Passed on even if `connection` names them: without them the message changes its meaning. */
const essential: ReadonlySet<string> = new Set(['host', 'content-length', 'content-type'])
const none: ReadonlySet<string> = new Set()

export function pairsOf(raw: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: raw.length >> 1 }, (_, i) => [raw[2 * i]!, raw[2 * i + 1]!])
}

/** All values of a header, in their order. */
export function valuesOf(raw: readonly string[], name: string): string[] {
  return raw.filter((_, i) => i % 2 === 1 && raw[i - 1]!.toLowerCase() === name)
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
    !kept.has(name) &&
    (hopByHop.has(name) || name.startsWith('proxy-') || named.includes(name) || others.has(name))
  return pairsOf(raw)
    .filter(([name]) => !isDropped(name.toLowerCase()))
    .flat()
}
