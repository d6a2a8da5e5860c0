import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import test from 'node:test'
import { lines } from './lines.ts'

function received(
  ...parts: (string | Buffer)[]
): Promise<{ messages: unknown[]; failure: Error | undefined }> {
  const messages: unknown[] = []
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  return new Promise((resolve) => {
    lines<unknown, unknown>(
      socket,
      (message) => messages.push(message),
      (failure) => resolve({ messages, failure }),
    )
    for (const part of parts) socket.push(part)
    socket.push(null)
  })
}

test('messages arrive in order, wherever the stream is split', async () => {
  const bytes = Buffer.from('{"a":"é☹"}\n5\nnull\n')
  const { messages, failure } = await received(...Array.from(bytes, (byte) => Buffer.from([byte])))
  assert.deepEqual([messages, failure], [[{ a: 'é☹' }, 5, null], undefined])
})

test('an invalid message ends the connection, and no message is delivered twice or after it', async () => {
  const { messages, failure } = await received('1\n', '2\nnot json\n', '3\n', '4\n5\n')
  assert.deepEqual(messages, [1, 2])
  assert.ok(failure instanceof SyntaxError)
})
