/**
 * The lease of the leader. DynamoDB has no clock that a condition could read, so nobody compares clocks: each renewal changes
 * the version of the lease, and a process that has seen the same version for as long as the lease lasts may take it.
 */
import { randomUUID } from 'node:crypto'
import type { UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import { numberOf, textOf, toAttribute } from '../../aws/dynamo/attributes.ts'
import { backOff } from '../../aws/dynamo/dynamo.ts'
import { DynamoError } from '../../aws/dynamo/explain-error.ts'
import type { Lease } from '../store.ts'
import { fences, setting } from './fence.ts'
import { fenceKey, type JobsTable, keyOf } from './layout.ts'

interface State {
  epoch: number
  holder: string
  version: string
  ttlMs: number
}

const leader = keyOf('leader')
const nobody: State = { epoch: 0, holder: '', version: '', ttlMs: 0 }

export class Leadership {
  readonly #jobs: JobsTable
  /** Milliseconds that only grow. */
  readonly #now: () => number
  /** The version seen last, and since when. */
  #seen = { version: '', since: 0 }

  constructor(jobs: JobsTable, now: () => number = () => performance.now()) {
    this.#jobs = jobs
    this.#now = now
  }

  async lead(holder: string, ttlMs: number): Promise<Lease | undefined> {
    const found = await this.#state()
    if (found.version !== this.#seen.version) this.#seen = { version: found.version, since: this.#now() }
    const isFree = found.holder === '' || found.holder === holder
    if (!isFree && this.#now() - this.#seen.since < found.ttlMs) return undefined
    const epoch = found.epoch + 1
    const version = randomUUID()
    const isTaken = await this.#change(found.version, { epoch, holder, version, ttlMs })
    if (!isTaken || !(await this.#raiseFences(epoch))) return undefined
    return this.#leaseOf({ epoch, holder, version, ttlMs })
  }

  #leaseOf(state: State): Lease {
    let held = state
    /** One at a time: each names the version of the one before. */
    let last: Promise<unknown> = Promise.resolve()
    const next = (change: () => Promise<boolean>) => {
      const result = last.then(change, change)
      last = result.catch(() => {})
      return result
    }
    const become = async (changes: Partial<State>) => {
      const wanted = { ...held, ...changes, version: randomUUID() }
      const isDone = await this.#change(held.version, wanted)
      if (isDone) held = wanted
      return (
        isDone ||
        this.#findAgain(held.epoch, (found) => {
          held = { ...found, ttlMs: wanted.ttlMs }
        })
      )
    }
    return {
      epoch: state.epoch,
      renew: (ms) => next(() => become({ ttlMs: ms })),
      release: async () => void (await next(() => become({ holder: '' }))),
    }
  }

  /** A renewal whose answer was lost changed the version nevertheless: the epoch tells whose lease it is. */
  async #findAgain(epoch: number, found: (state: State) => void): Promise<boolean> {
    const state = await this.#state()
    if (state.epoch !== epoch) return false
    found(state)
    return true
  }

  async #state(): Promise<State> {
    const { dynamo, table } = this.#jobs
    const { Item: item } = await dynamo.call('GetItem', table, (db) =>
      db.getItem({ TableName: table, Key: leader, ConsistentRead: true }),
    )
    if (!item) return nobody
    return {
      epoch: numberOf(item, 'epoch') ?? 0,
      holder: textOf(item, 'holder') ?? '',
      version: textOf(item, 'version') ?? '',
      ttlMs: numberOf(item, 'ttl_ms') ?? 0,
    }
  }

  /** False: the lease has another version. */
  async #change(from: string, { epoch, holder, version, ttlMs }: State): Promise<boolean> {
    const isFirst = from === ''
    const update = setting({ epoch, holder, version, ttl_ms: ttlMs })
    const isChanged = await this.#update({
      Key: leader,
      ...update,
      ConditionExpression: isFirst ? 'attribute_not_exists(pk)' : '#n2 = :from',
      ExpressionAttributeValues: {
        ...update.ExpressionAttributeValues,
        ...(!isFirst && { ':from': toAttribute(from) }),
      },
    })
    // The SDK repeats a call whose answer was lost, and the condition of the repetition fails.
    return isChanged || (await this.#state()).version === version
  }

  /** Waits for transactions of earlier leaders that have begun. False: a newer leader has begun. */
  async #raiseFences(epoch: number): Promise<boolean> {
    const raised = await Promise.all(Array.from({ length: fences }, (_, fence) => this.#raise(fence, epoch)))
    return raised.every(Boolean)
  }

  async #raise(fence: number, epoch: number): Promise<boolean> {
    const { dynamo, table } = this.#jobs
    for (let tries = 0; ; tries++) {
      await backOff(tries, 'UpdateItem', table, dynamo)
      try {
        return await this.#update({
          Key: fenceKey(fence),
          UpdateExpression: 'SET epoch = :epoch',
          ConditionExpression: 'attribute_not_exists(pk) OR epoch <= :epoch',
          ExpressionAttributeValues: { ':epoch': toAttribute(epoch) },
        })
      } catch (error) {
        if (!(error instanceof DynamoError) || error.reason !== 'TransactionConflictException') throw error
      }
    }
  }

  /** False: the condition failed. */
  async #update(input: Omit<UpdateItemCommandInput, 'TableName'>): Promise<boolean> {
    const { dynamo, table } = this.#jobs
    try {
      await dynamo.call('UpdateItem', table, (db) => db.updateItem({ TableName: table, ...input }))
      return true
    } catch (error) {
      if (error instanceof DynamoError && error.reason === 'ConditionalCheckFailedException') return false
      throw error
    }
  }
}
