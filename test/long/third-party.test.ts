import assert from 'node:assert/strict'
import test from 'node:test'
import { whatDiffers } from '../checks/third-party/exchange.ts'
import { compareBehindAndBeside } from '../checks/third-party.ts'

test('an unmodified object store gives the same answers behind Plimsoll as alone', async () => {
  // `npm run check:third-party` sends a thousand.
  const { requests, differences } = await compareBehindAndBeside(60, 2)
  assert.deepEqual([requests, differences], [60, []])
})

test('different answers are detected', () => {
  const answer = {
    status: 200,
    message: 'OK',
    headers: ['ETag', '1'],
    trailers: [],
    body: Buffer.from('abc'),
  }
  assert.equal(whatDiffers(answer, { ...answer, body: Buffer.from('abc') }), undefined)
  assert.match(whatDiffers(answer, { ...answer, status: 206 })!, /200 OK .* is not 206 OK/)
  assert.match(whatDiffers(answer, { ...answer, headers: ['etag', '1'] })!, /is not/)
  assert.match(whatDiffers(answer, { ...answer, trailers: ['a', 'b'] })!, /is not/)
  assert.match(
    whatDiffers(answer, { ...answer, body: Buffer.from('abd') })!,
    /bodies of 3 and 3 bytes differ/,
  )
  const copied = (at: string, tag: string) => ({
    ...answer,
    body: Buffer.from(
      `<CopyObjectResult><LastModified>${at}</LastModified><ETag>${tag}</ETag></CopyObjectResult>`,
    ),
  })
  assert.equal(whatDiffers(copied('12:00:01', 'a'), copied('12:00:02', 'a')), undefined)
  assert.ok(whatDiffers(copied('12:00:01', 'a'), copied('12:00:01', 'b')))
})
