import { type KeyObject, sign } from 'node:crypto';
import { sha256 } from '../../../schema/digest.ts';
import type { SeedKeys } from './derive.ts';

/** Signs texts as C2SP signed notes (https://c2sp.org/signed-note), by each of the Ed25519 keys: the current one first. */
export interface NoteSigner {
  /** The whole note. @param text ends with a line feed. */
  signNote(name: string, text: string): string;
  /** By which notes of that name are checked: `<name>+<key id>+<key>` each. */
  verifierKeys(name: string): readonly string[];
}

/** Of Ed25519, in key ids and verifier keys. */
const ED25519 = Buffer.of(1);

/**
 * By the older keys, too, for as long as they are configured: whoever follows the log and knows one of them goes on, and
 * meets the newer one beside it.
 */
export function noteSigner(seeds: readonly Pick<SeedKeys, 'ed25519'>[]): NoteSigner {
  const keys = seeds.map(({ ed25519: { key, jwk } }) => ({ key, raw: Buffer.from(String(jwk.x), 'base64url') }));
  return {
    signNote: (name, text) => `${text}\n${keys.map(({ key, raw }) => signatureLine(name, text, key, raw)).join('')}`,
    verifierKeys: name =>
      keys.map(({ raw }) => {
        const key = Buffer.concat([ED25519, raw]).toString('base64');
        return `${name}+${keyId(name, raw).toString('hex')}+${key}`;
      }),
  };
}

function signatureLine(name: string, text: string, key: KeyObject, raw: Buffer): string {
  const signed = Buffer.concat([keyId(name, raw), sign(null, Buffer.from(text), key)]);
  return `\u2014 ${name} ${signed.toString('base64')}\n`;
}

/** The first four bytes of SHA-256 over name, line feed, algorithm and key: a name for it, and no proof of anything. */
function keyId(name: string, raw: Buffer): Buffer {
  return sha256(Buffer.concat([Buffer.from(`${name}\n`), ED25519, raw])).subarray(0, 4);
}
