<<<<<<< HEAD
/** One request of the meter benchmark. */
export interface MeterCase {
=======
/** One request of the meter benchmark. */ export interface MeterCase {
>>>>>>> h-search
  params: Record<string, unknown>
  body?: () => Uint8Array
}
