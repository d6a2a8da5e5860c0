/** The interruption notice of a spot instance, from the metadata service (IMDSv2): AWS announces an interruption two minutes ahead. */

const usualEndpoint = 'http://169.254.169.254'
/** As AWS recommends. */
const usualEveryMs = 5_000
const answerMs = 2_000
const tokenSeconds = 21_600

export interface SpotWatch {
  /** Default: that of the environment, or of all instances. */
  endpoint?: string
  everyMs?: number
  log(line: string): void
  /** Called once. `action`: what AWS will do with the instance, such as `terminate`. */
  onNotice(notice: { action: string; time: string }): void
}

/** Returns a function that ends the watch. */
export function watchSpotNotice({
  endpoint = process.env.AWS_EC2_METADATA_SERVICE_ENDPOINT ?? usualEndpoint,
  everyMs = usualEveryMs,
  log,
  onNotice,
}: SpotWatch): () => void {
  let token: string | undefined
  let isOver = false
  let hasFailed = false
  let timer: NodeJS.Timeout | undefined
  const ask = (path: string, init: RequestInit) =>
    fetch(new URL(path, endpoint), { ...init, signal: AbortSignal.timeout(answerMs) })

  async function newToken(): Promise<string> {
    const headers = { 'x-aws-ec2-metadata-token-ttl-seconds': `${tokenSeconds}` }
    const answer = await ask('/latest/api/token', { method: 'PUT', headers })
    if (!answer.ok) throw new Error(`status ${answer.status} for a token`)
    return await answer.text()
  }

  /** Undefined: there is no notice. */
  async function read(): Promise<{ action: string; time: string } | undefined> {
    token ??= await newToken()
    const headers = { 'x-aws-ec2-metadata-token': token }
    const answer = await ask('/latest/meta-data/spot/instance-action', { headers })
    const text = await answer.text()
    if (answer.status === 404) return undefined
    if (answer.status === 401) token = undefined
    if (!answer.ok) throw new Error(`status ${answer.status}`)
    return JSON.parse(text) as { action: string; time: string }
  }

  async function poll(): Promise<void> {
    try {
      const notice = await read()
      hasFailed = false
      if (notice && !isOver) {
        isOver = true
        return onNotice(notice)
      }
    } catch (error) {
      if (!hasFailed && !isOver)
        log(`the metadata service of the instance does not answer: ${(error as Error).message}`)
      hasFailed = true
    }
    if (!isOver) timer = setTimeout(poll, everyMs)
  }

  void poll()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
