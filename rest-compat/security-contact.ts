/** Contacts for security.txt (RFC 9116): URIs, and the time until which they are valid (RFC 3339). */
export interface SecurityContact {
  readonly contacts: readonly string[];
  readonly expires_at: string;
}
