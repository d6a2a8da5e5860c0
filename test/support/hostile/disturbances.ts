/** When clients may have lost connections: their fronts were killed, or somebody cut the connections. */

export class Disturbances {
  readonly #periods: { from: number; to: number }[] = []

  /** Something happens now, or lasts until `end` is called. */
  begin(): { end(): void } {
    const period = { from: performance.now(), to: Infinity }
    this.#periods.push(period)
    return {
      end() {
        period.to = performance.now()
      },
    }
  }

  instant(): void {
    this.begin().end()
  }

  /** True: a request that began then may have lost its connection. */
  since(began: number): boolean {
    return this.#periods.some(({ to }) => to >= began)
  }
}
