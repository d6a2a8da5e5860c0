/** What a client knows at compile time: the parameters and results of workloads, from their types. */

import type { AnyParams, Reply, Workload } from '../../workload/workload.ts'

/** A workload, the default export of a module with several, a module, or workloads by name. */
export type Served =
  | Workload
  | readonly Workload[]
  | { readonly default: Workload | readonly Workload[] }
  | { readonly [name: string]: Workload }

/** Any workload, unchecked: what a client without a type argument knows. */
export type AnyWorkloads = { readonly [name: string]: Workload<AnyParams, unknown, AnyParams> }

/** Workloads by name. */
export type WorkloadsOf<S> = S extends Workload
  ? ByName<S>
  : S extends readonly (infer One extends Workload)[]
    ? ByName<One>
    : S extends { readonly default: infer D }
      ? WorkloadsOf<D>
      : S

type ByName<Union extends Workload> = { readonly [One in Union as One['name']]: One }

/** Names of the workloads that a client may ask for. */
export type NameIn<S> = keyof WorkloadsOf<S> & string

/**
 * What a request to a workload takes: the input of its schema. Fields whose schema accepts anything, as those of
 * `plimsoll/params` do, have the type that the schema produces.
 */
export type InputOf<W> =
  W extends Workload<infer P, unknown, infer I>
    ? unknown extends I
      ? P
      : { [K in keyof I]: unknown extends I[K] ? (K extends keyof P ? P[K] : I[K]) : I[K] }
    : never

/** What a client gets: what `run` returns, after its way through HTTP. */
export type ResultOf<W> = W extends Workload<infer _P, infer R> ? Received<Awaited<R>> : never

type Received<T> = unknown extends T
  ? unknown
  : T extends Reply<infer Body>
    ? Received<Body>
    : T extends string
      ? string
      : T extends undefined
        ? undefined
        : T extends Uint8Array | ArrayBuffer
          ? Uint8Array
          : T extends AsyncIterable<infer Chunk> | Generator<infer Chunk>
            ? Streamed<Chunk>
            : T extends { getReader(): unknown } | { arrayBuffer(): unknown }
              ? unknown
              : Jsonified<T>

/** A stream of strings is text, one of bytes is bytes. One that ends without a chunk is empty bytes. */
type Streamed<Chunk> = unknown extends Chunk
  ? unknown
  : [Chunk] extends [string]
    ? string
    : [Chunk] extends [Uint8Array]
      ? Uint8Array
      : unknown

/** A value after `JSON.stringify` and `JSON.parse`. */
export type Jsonified<T> = unknown extends T
  ? unknown
  : T extends { toJSON(): infer Json }
    ? Jsonified<Json>
    : T extends string | number | boolean | null
      ? T
      : T extends readonly unknown[]
        ? { [I in keyof T]: Jsonified<T[I]> }
        : T extends object
          ? { [K in keyof T as T[K] extends (...args: never) => unknown ? never : K]: Jsonified<T[K]> }
          : undefined
