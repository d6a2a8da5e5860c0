/** Answers that are held share the memory of answers that wait for slow clients. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import test from 'node:test'
import { AnswerStore } from './answer-buffer.ts'
import { Client } from './client.ts'

const mb = 1024 * 1024
const store = () => new AnswerStore({ answerMemoryBytes: 8 * mb, answerDiskBytes: 0 })

function clientOf(answers: AnswerStore) {
  const response = Object.assign(new EventEmitter(), {
    ...{ req: { headers: {}, method: 'GET' }, destroyed: false, writeHead() {}, flushHeaders() {} },
  })
  const limits = { stallMs: 1_000, requestMs: 1_000, minRate: 1 }
  return { response, client: new Client(response as unknown as ServerResponse, limits, answers) }
}

test('short answers are held whatever other answers take', () => {
  const answers = new AnswerStore({ answerMemoryBytes: 0, answerDiskBytes: 0 })
  const { client } = clientOf(answers)
  assert.equal(client.mayHold(mb / 4), true)
  assert.equal(client.mayHold(mb / 4 + 1), false)
})

test('one long answer is held up to its part of the memory, which is free again when the response has closed', () => {
  const answers = store()
  const { client, response } = clientOf(answers)
  assert.equal(client.mayHold(mb / 2), true)
  assert.equal(client.mayHold(mb), true)
  assert.equal(client.mayHold(mb + 1), false)
  assert.equal(answers.memory.left, 7 * mb)
  response.emit('close')
  assert.equal(answers.memory.left, 8 * mb)
})

test('another attempt at an answer uses the memory of the last one', () => {
  const answers = store()
  const { client } = clientOf(answers)
  for (const bytes of [mb, mb / 2, mb]) assert.equal(client.mayHold(bytes), true)
  assert.equal(answers.memory.left, 7 * mb)
})

test('an answer that begins to be streamed is held no longer', () => {
  const answers = store()
  const { client } = clientOf(answers)
  client.mayHold(mb)
  client.begin({ status: 200, fields: {} }, {})
  assert.equal(answers.memory.left, 8 * mb)
})

test('answers beyond the memory of all are not held', () => {
  const answers = store()
  for (let i = 0; i < 8; i++) assert.equal(clientOf(answers).client.mayHold(mb), true)
  assert.equal(clientOf(answers).client.mayHold(mb / 2), false)
})
