/**
 * A source map with positions that stack traces can name: starts of tokens. One for each character that could start a word
 * is several times as large as the code, and every slot reads it when it starts.
 */
import { type DecodedSourceMap, SourceMap } from 'magic-string'

/** Nothing is called or thrown at these characters. */
const quiet: ReadonlySet<string | undefined> = new Set([')', ']', ',', ';', ':'])

/** `starts`: offsets in the original source. The first position of each line is kept in any case. */
export function leanMap(map: DecodedSourceMap, original: string, starts: ReadonlySet<number>): SourceMap {
  const lineStarts = [0]
  for (let at = original.indexOf('\n'); at >= 0; at = original.indexOf('\n', at + 1)) lineStarts.push(at + 1)
  const mappings = map.mappings.map((segments) =>
    segments.filter(([, , line = 0, column = 0], i) => {
      const offset = lineStarts[line]! + column
      return i === 0 || (starts.has(offset) && !quiet.has(original[offset]))
    }),
  )
  return new SourceMap({ ...map, mappings })
}
