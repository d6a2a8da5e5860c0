/**
 * Phrases that readers stumble over, and what to write instead. They are whole words, in any case; a space also
 * matches a line break.
 */

export interface Phrase {
  banned: RegExp
  write: string
}

const number = 'give the number or its name'
const holder = 'name the state: "queued", "assigned to a worker", "in a function"'

export const phrases: readonly Phrase[] = [
  { banned: /whoever/, write: 'name the actor' },
  { banned: /c(?:ome|omes|ame|oming) to nothing/, write: '"fails", "failed"' },
  { banned: /so many/, write: number },
  { banned: /(?<!t[ao]ken? |t[ao]kes? |took )so long(?! as)/, write: number },
  { banned: /so much/, write: number },
  { banned: /so often/, write: number },
  { banned: /so soon/, write: number },
  { banned: /(?:what|that) there (?:is|are|was|were) not/, write: '"unknown", "missing"' },
  { banned: /that there (?:is|are) already/, write: '"existing"' },
  { banned: /in vain/, write: 'say what is lost, or "without effect"' },
  {
    banned:
      /(?:is|are|was|were|be|been) well(?!-| (?:above|below|under|over|within|before|after|beyond|known|defined|formed|suited|tested|kept))/,
    write: '"healthy"',
  },
  { banned: /nobody in particular/, write: '"an unnamed client"' },
  { banned: /nothing to (?:speak|tell) of/, write: 'say what is ignored, and below which bound' },
  {
    banned:
      /(?<!there )(?:is|are|was|were) no (?:job|request|number|measure|reason|part|picture|sign|chance|answer|category|failure|stranger|matter|figure|difference|key|rule|trouble|marker|proof)/,
    write: '"is not a …"',
  },
  { banned: /for ever/, write: '"forever"' },
  { banned: /ma(?:ke|kes|de|king) way/, write: '"is preempted", "is paused"' },
  { banned: /(?:is|are|was|were|be) had/, write: '"has", "is available"' },
  { banned: /heard (?:of|from)/, write: '"reports", "has not reported"' },
  { banned: /th(?:ink|inks|ought) (?:it )?over/, write: '"reconsiders", "is decided again"' },
  { banned: /goes first(?:\*\*)? an?/, write: 'subject first: "A job goes first when …"' },
  {
    banned: /who (?:drains|waits|goes|comes|joins|wins|sits|fits|must begin|is lost|is gone|is late)/,
    write: 'name the actor: "a worker that …", "a job that …"',
  },
  { banned: /(?:nobody|somebody|worker|function|provider)(?:['’]s|s['’]) hands/, write: holder },
  { banned: /(?:its|their|whose|empty) hands/, write: holder },
  { banned: /anew/, write: '"again"' },
  { banned: /for want of/, write: '"because … is missing"' },
  { banned: /by hand of/, write: '"by"' },
  { banned: /those that/, write: 'repeat the noun: "jobs that …"' },
  { banned: /had better/, write: '"should"' },
  { banned: /lived with/, write: '"tolerated"' },
  { banned: /in nobody['’]s way/, write: '"blocks nothing"' },
  { banned: /had the time to/, write: '"its start timeout has passed"' },
  { banned: /(?:is|are|was|were) looked at/, write: '"is checked"' },
  { banned: /for nothing/, write: '"at no cost", or "is ignored"' },
  { banned: /tak(?:e|es|ing) leave/, write: '"closes its connections"' },
  { banned: /taken to (?:need|be|wait|do|have|take)/, write: '"is assumed to"' },
  { banned: /ma(?:ke|kes|de) good for/, write: '"pays back"' },
  { banned: /befalls?/, write: '"happens to"' },
  { banned: /(?:as far as|where|of) nobody/, write: 'name the case: "without a client", "unmeasured"' },
  { banned: /that (?:is|are) none/, write: '"invalid"' },
  { banned: /what cannot be(?! \w+ed)/, write: '"impossible values", "invalid options"' },
  { banned: /as good as none/, write: '"is ignored", "counts as missing"' },
  { banned: /tells? of/, write: '"reports", "describes"' },
  { banned: /(?:is|was|are|were) said(?! to)/, write: '"estimated", "reported", "logged"' },
  { banned: /(?:its|their) like/, write: 'name the group' },
  { banned: /the very (?!first|last|same|least|end|beginning)\w+/, write: '"the same", "exactly the"' },
  { banned: /hardly any/, write: 'give the share: "at most 5 % of"' },
  { banned: /is for good/, write: '"is final"' },
  { banned: /rubbish/, write: '"garbage", "corrupt"' },
]
