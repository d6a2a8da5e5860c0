/** What the main thread asks of the store's thread, and what it replies. */
import type { StoreErrorCode } from '../../lib/errors.ts'
import type { Removal } from '../queries.ts'
import type { AcceptedRow, EndRow, JobRow } from '../rows.ts'
import type { JobQuery, Retention, Webhook } from '../store.ts'

export interface ThreadData {
  folder: string
  /** The name of the store in errors. */
  store: string
  /** How long to wait while another process locks the file. */
  busyMs: number
  /** False: an earlier thread of this process had the store open. Leases and files of this process are valid. */
  first: boolean
}

/** Small contents as they are, large ones in a file. Undefined: no bytes. */
export type Place = { bytes: Uint8Array } | { file: string } | undefined

/** Where a content is, and its length. */
export type Found = { bytes: Uint8Array } | { file: string; length: number }

export type FoundResult = Found & { status: number; fields: string }

export interface DisabledUrl {
  url: string
  until: number
}

interface Results {
  accept: { kind: 'accepted' } | { kind: 'repeated' | 'conflict'; row: JobRow }
  end: boolean
  started: undefined
  webhook: undefined
  lead: number | undefined
  renew: boolean
  release: undefined
  /** Removes a few results and jobs up to these positions, and jobs that ended before `forgetBefore`. */
  remove: { results: number; isDone: boolean }

  job: JobRow | undefined
  'by-key': JobRow | undefined
  body: Found | undefined
  result: FoundResult | undefined
  list: JobRow[]
  open: JobRow[]
  webhooks: JobRow[]
  disabled: DisabledUrl[]
  'oldest-to-remove': Removal
  close: undefined
}

export type Write =
  | { kind: 'accept'; epoch: number; row: AcceptedRow; body: Place }
  | { kind: 'end'; epoch: number; row: EndRow; result: Place }
  | { kind: 'started'; epoch: number; id: string; startedAt: number }
  | { kind: 'webhook'; epoch: number; id: string; webhook: Webhook }
  | { kind: 'lead'; holder: string; ttlMs: number }
  | { kind: 'renew'; epoch: number; ttlMs: number }
  | { kind: 'release'; epoch: number }
  | { kind: 'remove'; epoch: number; upTo: Removal; forgetBefore: number }

export type Read =
  | { kind: 'job'; id: string }
  | { kind: 'by-key'; client: string; key: string }
  | { kind: 'body'; id: string }
  | { kind: 'result'; id: string }
  | { kind: 'list'; query: JobQuery; before: number | undefined }
  | { kind: 'open'; after: number }
  | { kind: 'webhooks'; limit: number }
  | { kind: 'disabled'; now: number }
  | { kind: 'oldest-to-remove'; now: number; retention: Retention }
  | { kind: 'close' }

export type Call = Write | Read
export type ResultOf<K extends Call['kind']> = Results[K]

/** `error` is only the message: error classes do not survive structured cloning. */
export type Reply = { value: unknown } | { error: string; code: StoreErrorCode }
