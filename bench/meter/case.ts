/** One request of the meter benchmark. */
export interface MeterCase {
  params: Record<string, unknown>
  body?: () => Uint8Array
}
