/** Comments, strings and pages contain no banned phrase. */

import type { Phrase } from './phrases.ts'
import type { Problem } from './problem.ts'

/** These name the phrases in order to ban them. */
const aboutPhrases = /^tools\/tidy\/(?:phrases|check-phrases\.test)\.ts$/

export interface Prose {
  path: string
  prose: string
}

export function checkPhrases(texts: readonly Prose[], phrases: readonly Phrase[]): Problem[] {
  const compiled = phrases.map(({ banned, write }) => ({ pattern: wholeWords(banned), write }))
  const any = wholeWords(new RegExp(phrases.map(({ banned }) => banned.source).join('|') || '(?!)'))
  return texts
    .filter(({ path, prose }) => !aboutPhrases.test(path) && prose.search(any) >= 0)
    .flatMap(({ path, prose }) =>
      compiled.flatMap(({ pattern, write }) =>
        [...prose.matchAll(pattern)].map((match) => problem(path, prose, match, write)),
      ),
    )
}

/** Spaces match line breaks too. */
function wholeWords({ source }: RegExp): RegExp {
  return new RegExp(`(?<![\\w’-])(?:${source.replaceAll(' ', '\\s+')})(?![\\w-])`, 'gi')
}

function problem(file: string, prose: string, match: RegExpExecArray, write: string): Problem {
  const found = match[0].replace(/\s+/g, ' ').toLowerCase()
  return {
    file,
    line: prose.slice(0, match.index).split('\n').length,
    message: `"${found}": ${write}`,
    allowedBy: { rule: 'phrase', name: found },
  }
}
