/** For containers: exit 0 when the URL of the first argument answers with a success, 1 otherwise. */
const [url = ''] = process.argv.slice(2)
const answer = await fetch(url, { signal: AbortSignal.timeout(4_000) }).catch(() => undefined)
process.exitCode = answer?.ok === true ? 0 : 1
