/** `work`, or `late()` thrown when it takes longer than `ms`; the work itself is not stopped. */
export async function within<Value>(ms: number, work: Promise<Value>, late: () => Error): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms)
  })
  work.catch(() => undefined) // told by the race, unless it lost it
  return Promise.race([work, deadline]).finally(() => clearTimeout(timer))
}
