/** Files and functions have a maximum length. */

import type { CodeFile } from './parse.ts'
import type { Problem } from './problem.ts'

const mostFileLines = 300
const mostFunctionLines = 70

export function checkSizes(files: readonly CodeFile[]): Problem[] {
  return files.flatMap((file) => [...checkFile(file), ...checkFunctions(file)])
}

function checkFile({ path, lines }: CodeFile): Problem[] {
  if (lines <= mostFileLines) return []
  const message = `file of ${lines} lines, at most ${mostFileLines} are allowed`
  return [{ file: path, line: 1, message, allowedBy: { rule: 'file-size' } }]
}

function checkFunctions({ path, functions }: CodeFile): Problem[] {
  return functions
    .filter(({ lines }) => lines > mostFunctionLines)
    .map(({ name, line, lines }) => ({
      file: path,
      line,
      message: `function of ${lines} lines, at most ${mostFunctionLines} are allowed: ${name}`,
      allowedBy: { rule: 'function-size', name },
    }))
}
