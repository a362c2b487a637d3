import type { Json } from '../../../schema/canonical-json.ts';
import { sha256 } from '../../../schema/digest.ts';
import { splitNote } from './note.ts';
import { type CheckpointHead, checkpointHead, openCheckpoint } from './open-checkpoint.ts';
import { ed25519KeysIn, type Jwks } from './signature.ts';
import { type VerifierKey, verifierKey } from './verifier-key.ts';

/** By C2SP's signed-note: Ed25519. */
const ED25519 = Buffer.of(1);

/**
 * The head in a checkpoint that an Ed25519 key of a published set signed under its origin; null if none did. The origin is the first name
 * of the log: if the service has moved since, it differs from its address.
 */
export function issuedCheckpoint(note: Json | undefined, jwks: Jwks): CheckpointHead | null {
  if (typeof note !== 'string') return null;
  const opened = openCheckpoint(note, issuerNoteKeys(note, jwks));
  return opened.kind === 'signed' ? opened.head : null;
}

/** The Ed25519 keys of a published set under the origin of a checkpoint; none if it is not a checkpoint. */
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

/** The text of a tlog-proof (https://c2sp.org/tlog-proof), made again of its parts. `path`: lower-case hex. */
export function tlogProofText(leaf_index: number, path: readonly string[], note: string): string {
  const hashes = path.map(hash => Buffer.from(hash, 'hex').toString('base64'));
  return ['c2sp.org/tlog-proof@v1', `index ${leaf_index}`, ...hashes, '', note].join('\n');
}
