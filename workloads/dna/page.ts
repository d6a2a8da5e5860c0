/** Renders matches as HTML, each in context with differing bases marked. */

import { letterOf } from './bases.ts'
import type { Genome } from './genome.ts'

/** One line of the page: a stretch of the genome. */
export interface Highlight {
  position: number
  length: number
  /** Description for the reader. */
  note: string
  /** Whether the base at this offset differs from the pattern. */
  differs(at: number): boolean
}

export interface PageContent {
  title: string
  summary: string
  genome: Genome
  highlights: Highlight[]
}

/** Bases shown on both sides of a match. */
const around = 12
/** Longer matches are truncated. */
const longestShown = 96
const stripWidth = 960

const style = `
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; color: #22303a; }
  h1 { font-size: 1.4rem; }
  svg { width: 100%; height: 34px; background: #e9eff1; border-radius: 4px; }
  svg rect { fill: #0a9396; fill-opacity: .55; }
  table { border-collapse: collapse; }
  td, th { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; white-space: nowrap; }
  th, .note { color: #5c6f7b; font-weight: normal; }
  .bases { font: 14px/1.5 ui-monospace, monospace; color: #8a9aa5; white-space: normal; overflow-wrap: anywhere; }
  mark { background: #d5f2ee; color: #00464d; }
  mark b { background: #ee9b00; color: #fff; font-weight: normal; }`

export function renderPage({ title, summary, genome, highlights }: PageContent): string {
  const parts = [
    `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>${escaped(title)}</title>\n`,
    `<style>${style}\n</style>\n<h1>${escaped(title)}</h1>\n<p>${escaped(summary)}</p>\n`,
    strip(genome.bases.length, highlights),
    '<table>\n<tr><th>position<th>found<th>bases\n',
  ]
  for (const highlight of highlights) parts.push(tableRow(genome.bases, highlight))
  parts.push('</table>\n</html>\n')
  return parts.join('')
}

/** The whole genome from left to right, with the matches in it. */
function strip(length: number, highlights: Highlight[]): string {
  const scale = stripWidth / Math.max(1, length)
  const parts = [`<svg viewBox="0 0 ${stripWidth} 34" preserveAspectRatio="none" role="img">`]
  for (const { position, length: bases } of highlights) {
    const width = Math.max(1, bases * scale)
    parts.push(`<rect x="${(position * scale).toFixed(1)}" y="4" width="${width.toFixed(1)}" height="26"/>`)
  }
  parts.push('</svg>\n')
  return parts.join('')
}

function tableRow(bases: Uint8Array, { position, length, note, differs }: Highlight): string {
  const shown = Math.min(length, longestShown)
  const end = position + length
  const parts = [
    `<tr><td>${position}<td class="note">${escaped(note)}<td class="bases">`,
    letters(bases, Math.max(0, position - around), position),
    '<mark>',
  ]
  for (let at = 0; at < shown; at++) {
    const letter = letterOf(bases[position + at]!)
    parts.push(differs(at) ? `<b>${letter}</b>` : letter)
  }
  parts.push(
    shown < length ? '…</mark>' : `</mark>${letters(bases, end, Math.min(bases.length, end + around))}`,
  )
  parts.push('\n')
  return parts.join('')
}

function letters(bases: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let at = from; at < to; at++) text += letterOf(bases[at]!)
  return text
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
