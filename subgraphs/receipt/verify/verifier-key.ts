import { createPublicKey, type KeyObject } from 'node:crypto';
import { sha256 } from '../../../schema/digest.ts';
import { base64 } from './note.ts';

/** Kinds of keys that verify notes: for a log's own signature, or for a witness's cosignature, which contains its time. */
export type NoteKeyKind = 'signature' | 'cosignature';

export interface VerifierKey {
  /** Text form of the key: `<name>+<key id>+<type and key>`. */
  readonly text: string;
  readonly name: string;
  readonly key_id: Buffer;
  readonly kind: NoteKeyKind;
  readonly key: KeyObject;
}

/** The signature types that are supported (https://c2sp.org/signed-note#signature-types). Both are Ed25519. */
const kinds: Readonly<Record<number, NoteKeyKind>> = { 1: 'signature', 4: 'cosignature' };

const FORM = /^(?<name>[^\p{White_Space}+]+)\+(?<id>[0-9a-f]{8})\+(?<value>[A-Za-z0-9+/]+={0,2})$/u;
const KEY_BYTES = 32;
const TEXT_MAX = 512;

/** Reads the text form of a key. Null if it is malformed or of another type, or if its id does not follow from its name and key. */
export function verifierKey(text: string): VerifierKey | null {
  const { name, id, value } = (text.length <= TEXT_MAX && FORM.exec(text)?.groups) || {};
  const typed = base64(value ?? '');
  const kind = kinds[typed?.[0] ?? 0];
  if (name === undefined || typed === null || kind === undefined || typed.length !== KEY_BYTES + 1) return null;
  const key_id = sha256(Buffer.concat([Buffer.from(`${name}\n`), typed])).subarray(0, 4);
  if (key_id.toString('hex') !== id) return null;
  return { text, name, key_id, kind, key: ed25519(typed.subarray(1)) };
}

function ed25519(raw: Buffer): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }, format: 'jwk' });
}
