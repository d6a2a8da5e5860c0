/** A self-contained HTML page of figures that also prints well. */

const style = `
  :root { color-scheme: light }
  body { font: 15px/1.5 system-ui, sans-serif; color: #1c2530; background: #fff; margin: 2rem auto; max-width: 1240px; padding: 0 1.25rem }
  h1 { font-size: 1.5rem; margin: 0 0 .3rem }
  h2 { font-size: 1.05rem; margin: 0 }
  p { max-width: 110ch; color: #4a5767; margin: .3rem 0 }
  code { font: 13px/1.5 ui-monospace, monospace; background: #f2f4f7; padding: .1rem .35rem; border-radius: 3px; overflow-wrap: anywhere }
  main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 2rem 1.75rem; margin: 1.5rem 0 }
  figure { margin: 0; break-inside: avoid; min-width: 0 }
  .wide { grid-column: 1 / -1; overflow-x: auto }
  .wide > svg { min-width: 680px }
  figcaption { color: #4a5767; font-size: 13px; max-width: 95ch }
  svg { display: block; width: 100%; height: auto }
  svg text { font: 12px system-ui, sans-serif; fill: #4a5767 }
  svg .title { fill: #1c2530 }
  .grid { stroke: #e4e8ed; fill: none }
  .frame { stroke: #8a97a6; fill: none }
  .line { fill: none; stroke-width: 2; stroke-linejoin: round }
  .thin { stroke-width: 1.4 }
  .legend { display: flex; flex-wrap: wrap; gap: 0 1.1rem; margin: .1rem 0 .4rem; padding: 0; list-style: none; font-size: 13px }
  .legend svg { display: inline-block; width: 26px; height: 10px; margin-right: .35rem }
  .table { overflow-x: auto; margin: 1.25rem 0 .5rem }
  table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums }
  th, td { padding: .3rem .8rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #e4e8ed }
  th { font-weight: 600; border-bottom-color: #8a97a6; vertical-align: bottom }
  .words { text-align: left }
  th.words:first-child, td.words:first-child { padding-left: 0 }
  @media print {
    @page { margin: 12mm }
    html { font-size: 11px }
    body { margin: 0; padding: 0; max-width: none; font-size: 11px }
    main { grid-template-columns: 1fr 1fr; gap: 1.2rem 1.5rem; margin: 1rem 0 }
    table, figcaption, .legend, code { font-size: 10px }
    svg text { font-size: 14px }
    .table, .wide { overflow: visible }
    .wide > svg { min-width: 0 }
    th { white-space: normal }
    th, td { padding: .2rem .5rem }
    .legend svg { width: 20px; height: 8px }
    * { print-color-adjust: exact }
  }`

export interface Page {
  title: string
  /** HTML. */
  body: string
  /** Additional CSS. */
  style?: string
}

export function page({ title, body, style: more = '' }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>${style}${more}
</style>
</head>
<body>
${body}
</body>
</html>
`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for HTML content and attributes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character]!)
}

/** The first `words` columns are left-aligned. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[], words = 1): string {
  const cells = (kind: 'th' | 'td', row: readonly string[]) =>
    row.map((cell, i) => `<${kind}${i < words ? ' class="words"' : ''}>${escaped(cell)}</${kind}>`).join('')
  return `<div class="table"><table>
<thead><tr>${cells('th', head)}</tr></thead>
<tbody>
${rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('\n')}
</tbody>
</table></div>`
}
