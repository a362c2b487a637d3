import { verify } from 'node:crypto';
import { base64Hash, decimalIn, type NoteSignature, splitNote } from './note.ts';
import type { VerifierKey } from './verifier-key.ts';

/** The tree head that a checkpoint of a log states (https://c2sp.org/tlog-checkpoint). */
export interface CheckpointHead {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

/** The signed content of a checkpoint, not verified; null if the text is not a checkpoint. Further lines are ignored. */
export function checkpointHead(text: string): CheckpointHead | null {
  if (!text.endsWith('\n')) return null;
  const [origin = '', size_text = '', root_text = '', ...extensions] = text.slice(0, -1).split('\n');
  const size = decimalIn(size_text);
  const root = base64Hash(root_text);
  if (origin === '' || size === null || root === null || extensions.includes('')) return null;
  return { origin, size, root };
}

export type OpenedCheckpoint =
  | {
      readonly kind: 'signed';
      readonly head: CheckpointHead;
      readonly text: string;
      readonly signatures: readonly VerifiedSignature[];
    }
  | Exclude<OpenedNote, { kind: 'signed' }>;

/** Opens a checkpoint and verifies which of these keys signed it. */
export function openCheckpoint(note: string, keys: readonly VerifierKey[]): OpenedCheckpoint {
  const opened = openNote(note, keys);
  if (opened.kind !== 'signed') return opened;
  const head = checkpointHead(opened.text);
  return head === null ? { kind: 'malformed' } : { ...opened, head };
}

/** A signature that a known key made. */
interface VerifiedSignature {
  readonly key: VerifierKey;
  /** Time of a cosignature in Unix seconds, by the witness's clock. Null for the log's own signature. */
  readonly timestamp: number | null;
  /** Line of the signature in the note, with its line feed. */
  readonly line: string;
}

type OpenedNote =
  | { readonly kind: 'signed'; readonly text: string; readonly signatures: readonly VerifiedSignature[] }
  /** No signature is by a known key. */
  | { readonly kind: 'unsigned' }
  /** A signature names a known key that did not make it, so nothing in the note is trusted. */
  | { readonly kind: 'forged'; readonly key: VerifierKey }
  | { readonly kind: 'malformed' };

/** Opens a note and verifies the signatures of known keys. Those of other keys are ignored, even under a known name or a known id. */
export function openNote(note: string, keys: readonly VerifierKey[]): OpenedNote {
  const split = splitNote(note);
  if (split === null) return { kind: 'malformed' };
  const signatures: VerifiedSignature[] = [];
  for (const signature of split.signatures) {
    const key = keys.find(known => known.name === signature.name && known.key_id.equals(signature.key_id));
    if (key === undefined) continue;
    const verified = verifiedBy(key, signature, split.text);
    if (verified === null) return { kind: 'forged', key };
    signatures.push(verified);
  }
  return signatures.length === 0 ? { kind: 'unsigned' } : { kind: 'signed', text: split.text, signatures };
}

function verifiedBy(key: VerifierKey, { signature, line }: NoteSignature, text: string): VerifiedSignature | null {
  if (key.kind === 'signature')
    return verify(null, Buffer.from(text), key.key, signature) ? { key, timestamp: null, line } : null;
  const timestamp = timestampIn(signature);
  // https://c2sp.org/tlog-cosignature: the time is part of what is signed.
  const message = `cosignature/v1\ntime ${timestamp}\n${text}`;
  const signed = timestamp !== null && verify(null, Buffer.from(message), key.key, signature.subarray(8));
  return signed ? { key, timestamp, line } : null;
}

/** Time of a cosignature in Unix seconds. Null if it is 0 or not a safe integer, because a witness always states a valid time. */
function timestampIn(signature: Buffer): number | null {
  const seconds = signature.length === 72 ? Number(signature.readBigUInt64BE()) : 0;
  return seconds > 0 && Number.isSafeInteger(seconds) ? seconds : null;
}
