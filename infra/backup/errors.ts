/**
 * Why a backup cannot be written or read; the message says how to go on.
 * - `key`: no key, too short, or not the one that the folder was begun with;
 * - `damaged`: a file is not as it was written, or is not there;
 * - `other-log`: the folder holds backups of another log;
 * - `not-empty`: where it shall be restored to there is something already;
 * - `busy`: what has to stand still does not.
 */
export class BackupError extends Error {
  readonly code: 'key' | 'damaged' | 'other-log' | 'not-empty' | 'busy'
  constructor(code: BackupError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
