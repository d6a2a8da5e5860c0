/** Writes the `--report` of a simulation. The file is checked to be writable before anything runs. */

import { constants } from 'node:fs'
import { access, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ConfigError } from '../../lib/errors.ts'
import type { PolicyRecord } from '../../simulate/report/record.ts'
import { jointPage, type Report, reportPage } from '../../simulate/report/report.ts'
import { type Figures, figuresCells, moneyExplained, slowdownExplained } from './figures.ts'

export const reportOption = {
  topic: 'Output',
  type: 'text',
  help: 'write an HTML page with plots to this file',
  value: 'FILE',
} as const

/** Throws if a report could not be written to this file. */
export async function checkReportFile(path: string): Promise<void> {
  const there = await stat(path).catch(() => undefined)
  if (there?.isDirectory()) throw refusal(path, 'EISDIR')
  await access(there ? path : dirname(path), constants.W_OK).catch((error) => {
    throw refusal(path, error.code)
  })
}

export interface ReportParts {
  title: string
  /** Describes the simulated cluster, line by line. */
  about: readonly string[]
  /** The command line, starting with the command. */
  args: readonly string[]
  figures: readonly Figures[]
  /** What the figures are based on, for example `Medians of 5 seeds`. */
  basis: string
  records: readonly PolicyRecord[]
  seeds: number
  firstSeed: number
  begins: string | undefined
}

export async function writeReport(path: string, parts: ReportParts): Promise<void> {
  const html = reportPage({
    ...parts,
    about: parts.about.map((line) => (line.endsWith('.') ? line : `${line}.`)),
    command: commandLine(parts.args),
    table: figuresCells(parts.figures),
    tableCaption: [`${parts.basis}.`, slowdownExplained, moneyExplained(parts.figures)].join(' ').trimEnd(),
  })
  await write(path, html)
}

/** Several reports on one page. `args` are those of the command. */
export async function writeJointReport(
  path: string,
  title: string,
  args: readonly string[],
  reports: readonly Omit<Report, 'command'>[],
): Promise<void> {
  const command = commandLine(args)
  await write(
    path,
    jointPage(
      title,
      command,
      reports.map((report) => ({ ...report, command })),
    ),
  )
}

async function write(path: string, html: string): Promise<void> {
  await writeFile(path, html).catch((error) => {
    throw refusal(path, error.code)
  })
}

/** Quoted for a shell. */
function commandLine(args: readonly string[]): string {
  const quoted = args.map((arg) => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`))
  return ['plimsoll', ...quoted].join(' ')
}

function refusal(path: string, code: string): ConfigError {
  return new ConfigError(`--report = ${path}: cannot be written (${code})`)
}
