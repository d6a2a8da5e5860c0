/** A request that two programs might read differently: one of them as two requests, or as one with another body. */

export interface Trick {
  name: string
  /** What is sent. `id` names the request in its target; a hidden one is named `hiddenId(id)`. */
  bytes(id: string): string
  /** `refused`: an error, and no complete request reaches the server behind. `one`: it sees exactly this request. */
  outcome: 'refused' | 'one' | 'either'
}

export const hiddenId = (id: string) => `${id}-hidden`
const targetOf = (id: string) => `/seen?id=${id}`

/** A whole valid request, which must never be seen. */
export const hiddenRequest = (id: string) => `GET ${targetOf(hiddenId(id))} HTTP/1.1\r\nHost: x\r\n\r\n`

type Outcome = Trick['outcome']
type Text = string | ((id: string) => string)
const textOf = (text: Text, id: string) => (typeof text === 'string' ? text : text(id))

/** A POST with these lines of its head, and a hidden request behind `body`. */
export function post(name: string, outcome: Outcome, lines: string, body: Text = ''): Trick {
  return {
    ...{ name, outcome },
    bytes: (id) =>
      `POST ${targetOf(id)} HTTP/1.1\r\nHost: x\r\n${lines}\r\n${textOf(body, id)}${hiddenRequest(id)}`,
  }
}

/** A POST with chunks that end as they should; the hidden request follows as if it were the next one. */
export function chunks(name: string, outcome: Outcome, body: Text): Trick {
  return post(name, outcome, 'Transfer-Encoding: chunked\r\n', body)
}

/** A POST whose body is a hidden request, with its right length. */
export function hiddenInBody(name: string, outcome: Outcome, start: Text, lines = ''): Trick {
  return {
    ...{ name, outcome },
    bytes: (id) => {
      const body = hiddenRequest(id)
      return `${textOf(start, id)} HTTP/1.1\r\nHost: x\r\n${lines}Content-Length: ${body.length}\r\n\r\n${body}`
    },
  }
}

/** A GET with these lines of its head, after which the client expects nothing more. */
export function get(name: string, outcome: Outcome, lines: string): Trick {
  return {
    ...{ name, outcome },
    bytes: (id) => `GET ${targetOf(id)} HTTP/1.1\r\nHost: x\r\n${lines}Connection: close\r\n\r\n`,
  }
}

/** Another first line; `TARGET` stands for the target. */
export function line(name: string, outcome: Outcome, first: string, lines = 'Host: x\r\n'): Trick {
  return {
    ...{ name, outcome },
    bytes: (id) => `${first.replace('TARGET', targetOf(id))}\r\n${lines}Connection: close\r\n\r\n`,
  }
}
