/** What a check found. */

export interface Problem {
  file: string
  line: number
  message: string
  /** Which exception would allow it. Undefined: none can. */
  allowedBy?: { rule: 'file-size' | 'function-size' | 'phrase'; name?: string }
}

export const describe = ({ file, line, message }: Problem) => `${file}:${line}: ${message}`
