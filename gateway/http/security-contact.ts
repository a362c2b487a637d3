import { isIP } from 'node:net';
import type { SecurityContact } from '../../rest-compat/security-contact.ts';
import { iso } from '../../subgraphs/clock.ts';

/** Validity of the contact. RFC 9116 section 2.5.5 recommends less than a year. */
const HOLDS_MS = 180 * 86_400_000;

/**
 * The contact for vulnerability reports. It expires half a year after the start of the process, because a process that has run for
 * longer shows that the contact was not checked. The default is the mailbox of RFC 2142 section 4.
 */
export function securityContact(contacts: readonly string[] | null, base_url: string, now_ms: number): SecurityContact {
  return {
    contacts: contacts ?? [`mailto:security@${mailHost(new URL(base_url).hostname)}`],
    expires_at: iso(now_ms + HOLDS_MS),
  };
}

/**
 * The host of a mail address in a URI. An IP address is in brackets (RFC 5321 section 4.1.3), which a URI has to escape (RFC 6068
 * section 2).
 */
function mailHost(host: string): string {
  const bare = host.replace(/^\[|\]$/g, '');
  const version = isIP(bare);
  return version === 0 ? host : encodeURIComponent(`[${version === 6 ? 'IPv6:' : ''}${bare}]`);
}
