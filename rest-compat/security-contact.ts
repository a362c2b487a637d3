/** Whom to tell of a hole (RFC 9116): URIs, and until when that holds, RFC 3339. */
export interface SecurityContact {
  readonly contacts: readonly string[];
  readonly expires_at: string;
}
