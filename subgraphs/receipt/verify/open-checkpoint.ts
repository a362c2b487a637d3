import { base64Hash, decimalIn } from './note.ts';
import { type OpenedNote, openNote, type VerifiedSignature } from './open-note.ts';
import type { VerifierKey } from './verifier-key.ts';

/** A head of a log as its checkpoint names it (https://c2sp.org/tlog-checkpoint). */
export interface CheckpointHead {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

/** What is signed of a checkpoint, not believed yet; null where the text is none. Further lines say nothing here. */
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

/** A checkpoint, and which of these keys have signed it. */
export function openCheckpoint(note: string, keys: readonly VerifierKey[]): OpenedCheckpoint {
  const opened = openNote(note, keys);
  if (opened.kind !== 'signed') return opened;
  const head = checkpointHead(opened.text);
  return head === null ? { kind: 'malformed' } : { ...opened, head };
}
