import { verifyInclusion } from './merkle-proof.ts';
import { base64, base64Hash, decimalIn, NOTE_BYTES_MAX } from './note.ts';
import { type OpenedCheckpoint, openCheckpoint } from './open-checkpoint.ts';
import { type Check, type Invalid, judgeBy, malformedDocument, type Rule, unless } from './signed-document.ts';
import type { VerifierKey } from './verifier-key.ts';

/* Verifies proofs that a leaf is in a log, under a checkpoint that the log signed and witnesses cosigned. */

/** A proof that a log contains a leaf (https://c2sp.org/tlog-proof), split but not verified. */
export interface SplitProof {
  readonly index: number;
  /** Hashes from the leaf's sibling up. */
  readonly path: readonly Buffer[];
  /** Extra data of the proof, which is unsigned. Null if there is none. */
  readonly extra: Buffer | null;
  /** Checkpoint, as a signed note. */
  readonly checkpoint: string;
}

const HEADER = 'c2sp.org/tlog-proof@v1';
/** Maximum number of hashes in a path: the height of a tree of 2^63 leaves. */
export const PROOF_LINES_MAX = 63;
const PROOF_TEXT_MAX = 2 * NOTE_BYTES_MAX;

/** Splits a proof without verifying it. Null if the text is not a proof. */
export function splitProof(text: string): SplitProof | null {
  const blank = text.indexOf('\n\n');
  if (text.length > PROOF_TEXT_MAX || blank < 0) return null;
  const [header, ...lines] = text.slice(0, blank).split('\n');
  const told = lines[0]?.startsWith('extra ') ? base64(lines.shift()?.slice('extra '.length) ?? '') : undefined;
  const index = decimalIn(/^index (.+)$/.exec(lines.shift() ?? '')?.[1] ?? '');
  const path = lines.map(base64Hash).filter(hash => hash !== null);
  const whole = header === HEADER && told !== null && path.length === lines.length && path.length <= PROOF_LINES_MAX;
  if (!whole || index === null) return null;
  return { index, path, extra: told ?? null, checkpoint: text.slice(blank + 2) };
}

export interface ProofWanted {
  /** Hash (RFC 6962 §2.1) of the leaf that must be in the log. */
  readonly leaf: Buffer;
  /** Keys of the log, one of which must have signed: while a key replaces another, the log also signs with its older keys. */
  readonly log_keys: readonly VerifierKey[];
  /** Keys of witnesses, each of which must have cosigned. */
  readonly witnesses: readonly VerifierKey[];
}

export type ProofVerification =
  | { readonly kind: 'valid'; readonly checks: readonly Check[]; readonly size: number; readonly index: number }
  | Invalid;

interface OpenedProof {
  readonly proof: SplitProof;
  readonly wanted: ProofWanted;
  readonly opened: OpenedCheckpoint;
}

/** Verifies that the log with these keys contains a leaf, and that all of these witnesses cosigned the tree that contains it. */
export function verifyLogProof(text: string, wanted: ProofWanted): ProofVerification {
  const proof = splitProof(text);
  if (proof === null) return malformedDocument('This is not a proof in the format of C2SP tlog-proof.');
  const opened = openCheckpoint(proof.checkpoint, [...wanted.log_keys, ...wanted.witnesses]);
  const judged = judgeBy([signedByLog, includes, ...wanted.witnesses.map(cosignedBy)], { proof, wanted, opened });
  if (judged.kind === 'invalid') return judged;
  return { kind: 'valid', checks: judged.checks, size: headOf(opened)?.size ?? 0, index: proof.index };
}

/** The name of a log's key is the origin of the log: the signature of a key for another log proves nothing here. */
const signedByLog: Rule<OpenedProof> = {
  code: 'checkpoint_invalid',
  says: 'The log signed the checkpoint.',
  fault: ({ opened, wanted }) => {
    if (opened.kind === 'malformed') return 'The proof contains no checkpoint.';
    if (opened.kind === 'forged') return `The signature of ${opened.key.name} is not valid for the checkpoint.`;
    const signed =
      opened.kind === 'signed' &&
      opened.signatures.some(({ key }) => wanted.log_keys.includes(key) && key.name === opened.head.origin);
    return unless(signed, 'None of the given log keys signed the checkpoint.');
  },
};

const includes: Rule<OpenedProof> = {
  code: 'inclusion_invalid',
  says: 'The receipt is in the log under the checkpoint (inclusion proof).',
  fault: ({ proof: { index, path }, opened, wanted: { leaf } }) => {
    const head = headOf(opened);
    const stands =
      head !== null && verifyInclusion({ leaf, leaf_index: index, size: head.size, root: head.root }, path);
    return unless(stands, 'The proof does not lead from the receipt to the root of the checkpoint.');
  },
};

/** Rule that a witness cosigned the checkpoint, for any document with a checkpoint. */
export const cosignedBy = (witness: VerifierKey): Rule<{ readonly opened: OpenedCheckpoint }> => ({
  code: 'witness_missing',
  says: `The witness ${witness.name} cosigned the checkpoint.`,
  fault: ({ opened }) =>
    unless(
      opened.kind === 'signed' && opened.signatures.some(({ key }) => key === witness),
      `The witness ${witness.name} has not cosigned the checkpoint.`,
    ),
});

const headOf = (opened: OpenedCheckpoint) => (opened.kind === 'signed' ? opened.head : null);
