/** The headers of an answer that a workload may set. */
import { headers } from '../../wire/messages.ts'
import type { AnswerHead } from './frames.ts'

/** Headers of the connection, which a workload may not set. */
const reserved: ReadonlySet<string> = new Set([
  ...Object.values(headers),
  ...['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
])

type Fields = Record<string, string | string[]>

/** As the workload spelled them. */
export function fieldsOf({ headers: own, contentType }: Pick<AnswerHead, 'headers' | 'contentType'>): Fields {
  const kept = Object.entries(own).filter(([name]) => !reserved.has(name.toLowerCase()))
  return { ...Object.fromEntries(kept), ...(contentType !== '' && { 'content-type': contentType }) }
}

/** As a front receives them over HTTP: names in lower case, several values of a name together, no space before values. */
export function receivedFieldsOf(head: Pick<AnswerHead, 'headers' | 'contentType'>): Fields {
  const received: Fields = {}
  for (const [name, value] of Object.entries(fieldsOf(head))) {
    const key = name.toLowerCase()
    const values = [received[key] ?? [], value].flat().map((each) => each.replace(/^[ \t]+/, ''))
    received[key] = values.length === 1 ? values[0]! : values
  }
  return received
}
