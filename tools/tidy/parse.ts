/** Reads one code file: its imports, its functions, and its text for people (comments and strings). */

import { parse } from '@babel/parser'

export interface CodeFile {
  path: string
  lines: number
  imports: Import[]
  functions: FunctionSpan[]
  /** The source with everything but comments and strings blanked; offsets and lines are those of the source. */
  prose: string
}

export interface Import {
  /** As written; `*` stands for each computed part. */
  specifier: string
  line: number
  /** `entry`: a file named for a process, a thread or a computed import, which is not bound to this module. */
  kind: 'import' | 'entry'
}

export interface FunctionSpan {
  name: string
  line: number
  lines: number
}

/** A node of the syntax tree, as far as this file needs it. */
interface Node {
  type: string
  start: number
  end: number
  loc: { start: { line: number }; end: { line: number } }
  [key: string]: unknown
}

type Range = Pick<Node, 'type' | 'start' | 'end'>

const functionTypes = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ObjectMethod',
  'ClassMethod',
  'ClassPrivateMethod',
])

const importTypes = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
])

export function parseCode(path: string, source: string): CodeFile {
  const { program, comments } = syntaxOf(path, source)
  const imports: Import[] = []
  const functions: FunctionSpan[] = []
  const texts: Range[] = (comments ?? []).map(({ type, start, end }) => ({ type, start: start!, end: end! }))
  const visit = (node: Node, parent: Node | undefined) => {
    const found = importOf(node)
    if (found) imports.push(found)
    if (functionTypes.has(node.type)) functions.push(spanOf(node, parent, source))
    if (node.type === 'StringLiteral' || node.type === 'TemplateElement') texts.push(node)
    for (const child of childrenOf(node)) visit(child, node)
  }
  visit(program as unknown as Node, undefined)
  return { path, lines: lineCount(source), imports, functions, prose: proseOf(source, texts) }
}

function syntaxOf(path: string, source: string): ReturnType<typeof parse> {
  try {
    return parse(source, {
      sourceType: 'module',
      attachComment: false,
      plugins: path.endsWith('.ts') ? ['typescript'] : [],
    })
  } catch (cause) {
    throw new Error(`${path} cannot be parsed: ${(cause as Error).message}`, { cause })
  }
}

function* childrenOf(node: Node): Generator<Node> {
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) yield* value.filter(isNode)
    else if (isNode(value)) yield value
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

function importOf(node: Node): Import | undefined {
  const line = node.loc.start.line
  if (importTypes.has(node.type)) {
    const specifier = literal(node.source)
    return specifier === undefined
      ? undefined
      : { specifier, line, kind: specifier.includes('*') ? 'entry' : 'import' }
  }
  const [first, base] = (node.arguments as Node[] | undefined) ?? []
  const callee = node.callee as Node | undefined
  if (node.type === 'CallExpression' && callee?.name === 'require') {
    const specifier = literal(first)
    return specifier === undefined ? undefined : { specifier, line, kind: 'import' }
  }
  if (node.type === 'NewExpression' && callee?.name === 'URL' && isImportMetaUrl(base)) {
    const specifier = literal(first)
    return specifier === undefined ? undefined : { specifier, line, kind: 'entry' }
  }
  return undefined
}

function literal(value: unknown): string | undefined {
  if (!isNode(value)) return undefined
  if (value.type === 'StringLiteral') return value.value as string
  if (value.type !== 'TemplateLiteral') return undefined
  return (value.quasis as { value: { cooked: string } }[]).map((quasi) => quasi.value.cooked).join('*')
}

function isImportMetaUrl(node: Node | undefined): boolean {
  if (!node) return false
  const { object, property } = node
  return isNode(object) && object.type === 'MetaProperty' && isNode(property) && property.name === 'url'
}

function spanOf(node: Node, parent: Node | undefined, source: string): FunctionSpan {
  const { start, end } = node.loc
  return { name: nameOf(node, parent, source), line: start.line, lines: end.line - start.line + 1 }
}

/** A callback is named by the text before it, as a test by its title, else by the function that takes it. */
function nameOf(node: Node, parent: Node | undefined, source: string): string {
  const text = ({ start, end }: Node) => source.slice(start, end)
  const named = [node.id, node.key, parent?.id, parent?.key, parent?.left].find(isNode)
  if (named) return typeof named.name === 'string' ? named.name : text(named)
  const title = literal((parent?.arguments as unknown[] | undefined)?.[0])
  if (title !== undefined) return title
  const callee = parent?.callee
  return isNode(callee) ? `callback of ${text(callee).replace(/\s+/g, ' ').slice(-40)}` : 'unnamed function'
}

function lineCount(source: string): number {
  const breaks = source.match(/\n/g)?.length ?? 0
  return source === '' || source.endsWith('\n') ? breaks : breaks + 1
}

const blank = (code: string) => code.replace(/\S/g, '\0')

function proseOf(source: string, texts: Range[]): string {
  let prose = ''
  let at = 0
  for (const { type, start, end } of texts.sort((a, b) => a.start - b.start)) {
    prose += blank(source.slice(at, start)) + textOf(type, source.slice(start, end))
    at = end
  }
  return prose + blank(source.slice(at))
}

/** Marks of comments become spaces where a sentence may go on in the next line, else `\0`. */
function textOf(type: string, text: string): string {
  if (type === 'TemplateElement') return text
  if (type === 'CommentLine') return `  ${text.slice(2)}`
  if (type === 'StringLiteral') return `\0${text.slice(1, -1)}\0`
  const inner = text.slice(2, -2).replace(/(\n\s*)\*/g, '$1 ')
  return `\0\0${inner.replace(/^\*/, '\0')}\0\0`
}
