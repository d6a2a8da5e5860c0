/** `/api/jobs/{id}/why` of the admin port: the story of one job, as JSON or as text. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { RequestProblem } from '../front/problem.ts'
import { isDirectJobId } from '../front/request/job-id.ts'
import { count } from '../lib/quantities.ts'
import { type DisciplineName, disciplines } from '../model/discipline.ts'
import { type DocumentOptions, whyDocument, whyText } from '../story/document.ts'
import type { Stories } from '../story/stories.ts'

/** Serves requests for a story; false: the request is for something else. Throws a 404 if the job is unknown. */
export type StoryHandler = (request: IncomingMessage, response: ServerResponse) => boolean

const path = /^\/api\/jobs\/([^/?]+)\/why(?:\?|$)/

export function storyHandler(
  stories: Stories,
  discipline: DisciplineName,
  recentOf: (workload: string) => DocumentOptions['recent'],
  now: () => number,
): StoryHandler {
  const { bounded } = disciplines[discipline]
  return (request, response) => {
    const id = path.exec(request.url ?? '')?.[1]
    if (id === undefined) return false
    const story = stories.of(decoded(id))
    if (!story) throw isDirectJobId(decoded(id)) ? notRecorded(decoded(id)) : unknown(decoded(id), stories)
    const document = whyDocument(story, { bounded, now: now(), recent: recentOf(story.job.workload) })
    const asText = prefersText(request.headers.accept)
    const body = asText ? whyText(document) : JSON.stringify(document)
    const type = asText ? 'text/plain; charset=utf-8' : 'application/json'
    response.writeHead(200, { 'content-type': type, vary: 'accept' })
    response.end(`${body}\n`)
    return true
  }
}

/** True: the client names text before JSON. */
function prefersText(accept = ''): boolean {
  const text = accept.search(/text\/plain/i)
  const json = accept.search(/application\/json/i)
  return text >= 0 && (json < 0 || text < json)
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

function unknown(id: string, { count: { open, finished } }: Stories): RequestProblem {
  return new RequestProblem(
    404,
    'unknown-job',
    `Job ${id.slice(0, 200)} is unknown. Known are ${count(open, 'open job')} and the last ${finished} that ended. ` +
      "A job's id is in the plimsoll-job header of its answer.",
    { fields: { open, finished } },
  )
}

function notRecorded(id: string): RequestProblem {
  return new RequestProblem(
    404,
    'not-recorded',
    `Job ${id} was answered directly: requests like it are small, so its front sent it to a worker or program without ` +
      'asking the brain, and its story was not recorded. With --direct-below 0 all requests ask the brain.',
  )
}
