/** The server's time in the page: a reader's own clock may be minutes off, and ages must not be. */

let offset = 0

/** Learns from an answer what the server's clock says, milliseconds. */
export function setClock(serverNow: number): void {
  offset = serverNow - Date.now()
}

/** Milliseconds since 1970 by the server's clock; by the reader's own before the first answer. */
export function now(): number {
  return Date.now() + offset
}
