/** A reporter of tests that prints the first failure and ends the process. */

import type { TestEvent } from 'node:test/reporters'

export default async function* firstFailure(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== 'test:fail') continue
    yield `${data.name}: ${data.details.error.cause ?? data.details.error}\n`
    setImmediate(() => process.exit(1))
  }
}
