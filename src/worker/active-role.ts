/** What a worker does in the role that the brain assigned to it. The caller of `runWorker` knows the roles. */

export interface ActiveRole {
  readonly role: string
  /** An attempt or upgrade has arrived; the returned function is called when it is over. */
  begin(): () => void
  /** The worker drains. */
  leave(): void
  /** Resolves when nothing is left to do. */
  close(): Promise<void>
}

export type RoleStarter = (
  assigned: { role: string; settings: unknown; frontToken?: string },
  parts: {
    id: string
    /** Asks the brain whether the worker may leave. */
    ask(request: { why: string; ms: number }): void
    failed(error: Error): void
  },
) => ActiveRole
