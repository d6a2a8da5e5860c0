/** Edits the head of a loop. Inserted text contains the line breaks of the text it replaces, so that lines do not move. */
import type { AnyNode } from 'acorn'
import type { Edits } from './edits.ts'
import type { Loop } from './tree.ts'

export type HeadedLoop = Extract<Loop, { type: 'ForStatement' | 'WhileStatement' }>

/** Blanks and comments. */
const gap = '(?:\\s|//.*|/\\*(?:[^*]|\\*(?!/))*\\*/)*'
const uptoInit = new RegExp(`for${gap}\\(`, 'y')
const uptoTest = new RegExp(`while${gap}\\(`, 'y')
const afterInit = new RegExp(`(?:${gap}\\))*${gap}`, 'y')

/** Moves the loop's initialization before the loop, followed by `header`. */
export function moveInitBefore(loop: HeadedLoop, init: AnyNode, header: () => string, edits: Edits): void {
  const start = edits.match(uptoInit, loop.start)
  const end = edits.match(afterInit, init.end)
  // An expression statement must not begin with `{`, `function` or `class`.
  const expression = init.type !== 'VariableDeclaration'
  edits.replace(loop.start, start, `{${lineBreaks(edits.text(loop.start, start))}${expression ? '(' : ''}`)
  edits.open(end, () => `${expression ? ')' : ''};${header()}for(`)
}

/** Adds an expression that runs after each turn, also after `continue`. */
export function addUpdate(loop: HeadedLoop, update: string, edits: Edits): void {
  if (loop.type === 'ForStatement' && loop.update) return edits.close(loop.update.end, `,${update}`)
  if (loop.type === 'WhileStatement') {
    const head = edits.match(uptoTest, loop.start)
    edits.replace(loop.start, head, `for(${lineBreaks(edits.text(loop.start, head))};`)
    return edits.open(closingParenthesis(loop, edits), `;${update}`)
  }
  edits.open(closingParenthesis(loop, edits), update)
}

export function afterFirstSemicolon(loop: HeadedLoop, edits: Edits): number {
  const after = (loop.type === 'ForStatement' ? loop.init?.end : undefined) ?? loop.start
  return after + withoutComments(edits.text(after, loop.body.start)).indexOf(';') + 1
}

export function lineBreaks(text: string): string {
  return text.replace(/[^\n\r\u2028\u2029]/g, '')
}

function closingParenthesis(loop: HeadedLoop, edits: Edits): number {
  const after = loop.test?.end ?? (loop.type === 'ForStatement' ? loop.init?.end : undefined) ?? loop.start
  return after + withoutComments(edits.text(after, loop.body.start)).lastIndexOf(')')
}

function withoutComments(text: string): string {
  return text.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, (comment) => ' '.repeat(comment.length))
}
