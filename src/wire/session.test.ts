import assert from 'node:assert/strict'
import test from 'node:test'
import { type Frame, Session } from './session.ts'

/** A connection that loses messages after it breaks. */
function line(other: () => Session<string, string>, heard: string[]) {
  let broken = false
  return {
    send(frame: Frame<string>) {
      const message = broken ? undefined : other().take(frame)
      if (message !== undefined) heard.push(message)
    },
    close() {},
    cut() {
      broken = true
    },
  }
}

function pair() {
  const [a, b] = [new Session<string, string>(), new Session<string, string>()]
  const [atA, atB]: [string[], string[]] = [[], []]
  let lines: { cut(): void }[] = []
  return {
    a,
    b,
    atA,
    atB,
    connect() {
      const [toB, toA] = [line(() => b, atB), line(() => a, atA)]
      lines = [toB, toA]
      const [haveA, haveB] = [a.received, b.received]
      a.attach(toB, haveB)
      b.attach(toA, haveA)
    },
    /** Neither side notices at once. */
    cut: () => {
      for (const each of lines) each.cut()
    },
    notice() {
      a.detach()
      b.detach()
    },
  }
}

test('messages before, during and after a break arrive once and in order', () => {
  const { a, b, atA, atB, connect, cut, notice } = pair()
  a.send('1')
  connect()
  a.send('2')
  b.send('x')
  cut()
  a.send('3')
  b.send('y')
  notice()
  a.send('4')
  assert.equal(a.isAttached, false)
  connect()
  a.send('5')
  assert.deepEqual(atB, ['1', '2', '3', '4', '5'])
  assert.deepEqual(atA, ['x', 'y'])
})

test('acknowledged messages are dropped, even if the other side sends none itself', () => {
  const { a, b, atB, connect } = pair()
  connect()
  for (let i = 0; i < 1_000; i++) a.send(`${i}`)
  assert.equal(atB.length, 1_000)
  assert.ok(a.kept < 100, `${a.kept} kept`)
  b.beat()
  assert.equal(a.kept, 0)
})

test('a duplicate message is delivered once', () => {
  const session = new Session<string, string>()
  assert.equal(session.take({ n: 1, a: 0, m: 'one' }), 'one')
  assert.equal(session.take({ n: 1, a: 0, m: 'one' }), undefined)
  assert.equal(session.take({ a: 0 }), undefined)
  assert.equal(session.received, 1)
})
