/** The parts of a state that changed, by key, as JSON: it writes doubles exactly. Null: the part is gone. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters - each core says what it may put
export class ChangedParts<Saved> extends Map<string, Buffer | null> {
  put(key: string, saved: Saved): void {
    this.set(key, Buffer.from(JSON.stringify(saved)))
  }
}

/** What the parts say, as it was put. */
export function* savedIn<Saved>(parts: ReadonlyMap<string, Buffer>): Generator<Saved> {
  for (const part of parts.values()) yield JSON.parse(part.toString()) as Saved
}
