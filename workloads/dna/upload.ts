/** Reads genomes from a text body, FASTA or bare letters. */

import { type JobContext, Refusal } from 'plimsoll/workload'
import { readUpload } from '../uploads/read.ts'
import { codeOfCharacter } from './bases.ts'
import type { Genome } from './genome.ts'

export const mostBases = 10_000_000
/** Includes line endings and headers. */
const mostBytes = 12_000_000
const longestName = 200

const newline = 0x0a
const carriageReturn = 0x0d

/** The genomes of the body in order; none if the body is empty. */
export async function readGenomes(body: JobContext['body']): Promise<Genome[]> {
  const text = await readUpload(body, mostBytes, `the body is longer than the ${mostBytes} bytes allowed`)
  if (text.length === 0) return []
  if (text[0] === 0x1f && text[1] === 0x8b) {
    throw new Refusal(415, 'the body is compressed (gzip): send it as plain text')
  }
  const genomes: Genome[] = []
  const bases = new Uint8Array(text.length)
  let name: string | undefined
  let begin = 0
  let end = 0
  let line = 1
  const finish = () => {
    if (end > begin) genomes.push({ name: name ?? 'uploaded', bases: bases.subarray(begin, end) })
    else if (name !== undefined) throw new Refusal(422, `${name}: has no bases`)
    begin = end
  }
  for (let at = 0; at < text.length; ) {
    const mark = text[at]
    if (mark === 0x3e || mark === 0x3b) {
      const stop = lineEnd(text, at)
      if (mark === 0x3e) {
        finish()
        name = nameIn(text, at + 1, stop)
      }
      at = stop
    }
    for (; at < text.length && text[at] !== newline; at++) {
      const code = codeOfCharacter[text[at]!]!
      if (code !== 0) bases[end++] = code
      else if (!isBlank(text[at]!)) throw notABase(text[at]!, line)
    }
    at++
    line++
  }
  finish()
  if (genomes.length === 0) throw new Refusal(422, 'the body holds no bases')
  return checked(genomes)
}

function checked(genomes: Genome[]): Genome[] {
  for (const { name, bases } of genomes) {
    if (bases.length > mostBases) {
      throw new Refusal(413, `${name}: has ${bases.length} bases; at most ${mostBases} are allowed`)
    }
  }
  return genomes
}

function lineEnd(text: Uint8Array, from: number): number {
  const at = text.indexOf(newline, from)
  return at < 0 ? text.length : at
}

function nameIn(text: Uint8Array, from: number, to: number): string {
  const line = Buffer.from(text.subarray(from, Math.min(to, from + longestName)))
  return line.toString('utf8').trim() || 'unnamed'
}

function isBlank(character: number): boolean {
  return character === 0x20 || character === 0x09 || character === carriageReturn
}

function notABase(character: number, line: number): Refusal {
  const isText = character > 0x20 && character < 0x7f
  const shown = isText
    ? JSON.stringify(String.fromCharCode(character))
    : `byte 0x${character.toString(16).padStart(2, '0')}`
  return new Refusal(
    isText ? 422 : 415,
    `line ${line} of the body: ${shown} is not a base; allowed are A, C, G, T, U, N and the other letters of IUPAC`,
  )
}
