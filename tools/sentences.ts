/**
 * `npm run -s sentences [-- --count 20 --seed 1]`: prints sentences of comments, texts and pages, drawn at random, to
 * judge whether a stranger would understand them.
 */

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { stream } from '../src/lib/random.ts'
import { codeFiles, markdownFiles } from './tidy/files.ts'
import { parseCode } from './tidy/parse.ts'

const { values } = parseArgs({
  options: { count: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' } },
})

const root = process.cwd()
const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8')
const texts = [
  ...codeFiles(root).map((path) => ({ path, prose: parseCode(path, read(path)).prose })),
  ...markdownFiles(root).map((path) => ({ path, prose: read(path).replace(/```[\s\S]*?```/g, '') })),
]
const sentences = texts.flatMap(({ path, prose }) => sentencesOf(prose).map((text) => `${path}: ${text}`))
const random = stream(Number(values.seed), 'sentences')
for (let i = 0; i < Number(values.count); i++) console.log(sentences[random.below(sentences.length)])

/** At least four words that start with a capital letter and end with a full stop. */
function sentencesOf(prose: string): string[] {
  const plain = prose.replace(/^\s*(?:\/\*\*?|\*\/?|\/\/|>|[-*|]) ?/gm, ' ').replace(/\s+/g, ' ')
  return [...plain.matchAll(/(?<=[.:>] |\/ |^)[A-Z`][^.|<>{}]{15,220}\.(?= |$)/g)]
    .map(([text]) => text.trim())
    .filter((text) => text.split(' ').length >= 4)
}
