import type { Json } from '../../../schema/canonical-json.ts';
import { sha256 } from '../../../schema/digest.ts';
import { type CheckpointHead, openCheckpoint } from './open-checkpoint.ts';
import { ed25519KeysIn, type Jwks } from './signature.ts';
import { verifierKey } from './verifier-key.ts';

/** By C2SP's signed-note: Ed25519. */
const ED25519 = Buffer.of(1);

/** The head in a checkpoint that an Ed25519 key of a published set signed under that origin; null where none did. */
export function issuedCheckpoint(note: Json | undefined, origin: string, jwks: Jwks): CheckpointHead | null {
  if (typeof note !== 'string') return null;
  const keys = ed25519KeysIn(jwks).flatMap(raw => verifierKey(keyText(origin, raw)) ?? []);
  const opened = openCheckpoint(note, keys);
  return opened.kind === 'signed' && opened.head.origin === origin ? opened.head : null;
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
