/** A process of its own that accepts, answers and cancels jobs until it is killed. Prints each line after its write resolved. */
import { writeSync } from 'node:fs'
import { openJobStore } from '../open-store.ts'
import { answerOf, epochOf, newJob } from './samples.ts'

const store = await openJobStore(process.argv[2])
const epoch = await epochOf(store, 'child')
const callers = 16
const print = (line: string) => writeSync(1, `${line}\n`)

async function work(caller: number): Promise<never> {
  for (let number = caller; ; number += callers) {
    const content = Buffer.alloc(number % 10 === 0 ? 100_000 : 200, `${number} `)
    const idempotency = { key: `key-${number}`, fingerprint: 'same' }
    await store.accept(epoch, newJob(number, { body: content, idempotency }))
    print(`accepted ${number}`)
    if (number % 3 === 0) {
      await store.answer(epoch, `job-${number}`, answerOf(number, { body: content }))
      print(`answered ${number}`)
    }
    if (number % 7 === 1) {
      const isFirst = await store.cancel(epoch, `job-${number}`, 1)
      if (isFirst) print(`cancelled ${number}`)
    }
  }
}

await Promise.all(Array.from({ length: callers }, (_, caller) => work(caller)))
