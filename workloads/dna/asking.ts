/** Requests for the tests of dna. */

import fc from 'fast-check'
import { fakeContext } from 'plimsoll/testing'
import dna from '../dna.ts'
import { readParams } from '../testing/params.ts'
import type { Segment } from './align.ts'
import type { Match } from './search.ts'

/** A context with this request body, in small chunks. */
export function contextOf(body: string | Uint8Array = '', pieceBytes = 7) {
  const bytes = Buffer.from(body)
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  return fakeContext({ body: Object.assign(pieces(), { bytes: async () => bytes }) })
}

export interface Answer<Kind> {
  genome: { name: string; bases: number }
  total: number
  matches: Kind[]
}

export async function ask(params: Record<string, unknown>, ctx = contextOf()): Promise<unknown> {
  return await dna.run(readParams(dna, params), ctx)
}

export async function search(params: Record<string, unknown>, body = ''): Promise<Answer<Match>> {
  return (await ask(params, contextOf(body))) as Answer<Match>
}

export async function align(params: Record<string, unknown>, body = ''): Promise<Answer<Segment>> {
  return (await ask({ mode: 'align', ...params }, contextOf(body))) as Answer<Segment>
}

export const bases = (letters: string, min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...letters), minLength: min, maxLength: max })
