import type { SecurityContact } from '../security-contact.ts';
import { textOfLines } from './x402-list.ts';

/** /.well-known/security.txt (RFC 9116 section 2.5): `Expires` and at least one `Contact` have to be there. */
export function securityTxt({ contacts, expires_at }: SecurityContact, url: string): string {
  return textOfLines([
    ...contacts.map(contact => `Contact: ${contact}`),
    `Expires: ${expires_at}`,
    `Canonical: ${url}`,
    'Preferred-Languages: en',
  ]);
}
