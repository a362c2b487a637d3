import type { Json } from '../../../schema/canonical-json.ts';
import { sha256 } from '../../../schema/digest.ts';
import { splitNote } from './note.ts';
import { type CheckpointHead, checkpointHead, openCheckpoint } from './open-checkpoint.ts';
import { ed25519KeysIn, type Jwks } from './signature.ts';
import { type VerifierKey, verifierKey } from './verifier-key.ts';

/** The type byte of Ed25519 keys in signed notes (https://c2sp.org/signed-note). */
const ED25519 = Buffer.of(1);

/**
 * The head in a checkpoint that an Ed25519 key of a published key set signed under the origin of the checkpoint; null if no key did. The
 * origin is the first name of the log, and differs from the service's address if the service has moved.
 */
export function issuedCheckpoint(note: Json | undefined, jwks: Jwks): CheckpointHead | null {
  if (typeof note !== 'string') return null;
  const opened = openCheckpoint(note, issuerNoteKeys(note, jwks));
  return opened.kind === 'signed' ? opened.head : null;
}

/** The Ed25519 keys of a published key set, named by the origin of a checkpoint; empty if the note is not a checkpoint. */
export function issuerNoteKeys(note: string, jwks: Jwks): VerifierKey[] {
  const split = splitNote(note);
  const origin = split && checkpointHead(split.text)?.origin;
  return origin ? ed25519KeysIn(jwks).flatMap(raw => verifierKey(keyText(origin, raw)) ?? []) : [];
}

function keyText(origin: string, raw: Buffer): string {
  const typed = Buffer.concat([ED25519, raw]);
  const key_id = sha256(Buffer.concat([Buffer.from(`${origin}\n`), typed])).subarray(0, 4);
  return `${origin}+${key_id.toString('hex')}+${typed.toString('base64')}`;
}

/** The text of a proof (https://c2sp.org/tlog-proof), made from its parts. @param path hashes in lower-case hex */
export function tlogProofText(leaf_index: number, path: readonly string[], note: string): string {
  const hashes = path.map(hash => Buffer.from(hash, 'hex').toString('base64'));
  return ['c2sp.org/tlog-proof@v1', `index ${leaf_index}`, ...hashes, '', note].join('\n');
}
