/** Rewrites the links of a README for the package, which lacks the pages and pictures that they name. */

/** `repository`: its address, for example `https://github.com/owner/name`. */
export function withAbsoluteLinks(text: string, repository: string): string {
  return text.replace(
    /(!?)(\[[^\]]*\]\()(?![a-z]+:|#)([^)\s]+)/g,
    (_, picture: string, start: string, path) => {
      const at = picture === '' ? 'blob' : 'raw'
      return `${picture}${start}${repository}/${at}/HEAD/${path}`
    },
  )
}

/** `git+https://github.com/owner/name.git`: `https://github.com/owner/name` */
export function repositoryAddress({ repository }: { [field: string]: unknown }): string {
  const { url } = repository as { url: string }
  return url.replace(/^git\+/, '').replace(/\.git$/, '')
}
