import type { Link } from './link.ts'

/** Who listens to what: topic to connections. */
export class Subscribers {
  private readonly links = new Map<string, Set<Link>>()

  add(topic: string, link: Link): void {
    const links = this.links.get(topic)
    if (links === undefined) this.links.set(topic, new Set([link]))
    else links.add(link)
  }

  delete(topic: string, link: Link): void {
    const links = this.links.get(topic)
    links?.delete(link)
    if (links?.size === 0) this.links.delete(topic)
  }

  of(topic: string): ReadonlySet<Link> {
    return this.links.get(topic) ?? none
  }
}

const none: ReadonlySet<Link> = new Set()
