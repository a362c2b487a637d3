import { issuerNoteKeys } from '../checkpoint-note.ts';
import { cosignedBy, splitProof } from '../log-proof.ts';
import { splitNote } from '../note.ts';
import { checkpointHead, type OpenedCheckpoint, openCheckpoint } from '../open-checkpoint.ts';
import type { DocumentVerification } from '../report.ts';
import type { Jwks } from '../signature.ts';
import { judgeBy, malformedDocument, type Rule, unless } from '../signed-document.ts';
import type { VerifierKey } from '../verifier-key.ts';

/** Keys that the reader supplies in addition to the issuer's key set. */
export interface NoteKeys {
  /** Keys of witnesses, each of which must have cosigned. */
  readonly witnesses?: readonly VerifierKey[];
}

/** Whether a text is a checkpoint of a log (https://c2sp.org/tlog-checkpoint), whatever keys signed it. */
export function isCheckpoint(text: string): boolean {
  const split = splitNote(text);
  return split !== null && checkpointHead(split.text) !== null;
}

export const isLogProof = (text: string): boolean => splitProof(text) !== null;

interface OpenedCheckpointNote {
  readonly opened: OpenedCheckpoint;
  readonly issuers: readonly VerifierKey[];
}

/** Verifies a checkpoint of the log against a published key set, offline, and the cosignatures of the given witnesses. */
export function verifyCheckpoint(text: string, jwks: Jwks, { witnesses = [] }: NoteKeys = {}): DocumentVerification {
  const issuers = issuerNoteKeys(text, jwks);
  const opened = openCheckpoint(text, [...issuers, ...witnesses]);
  const judged = judgeBy([readable, signedByIssuer, ...witnesses.map(cosignedBy)], { opened, issuers });
  if (judged.kind === 'invalid') return judged;
  if (opened.kind !== 'signed') return malformedDocument(NO_CHECKPOINT);
  const { head, signatures } = opened;
  const known = new Set(signatures.map(({ line }) => line));
  const others = (splitNote(text)?.signatures ?? []).filter(({ line }) => !known.has(line));
  const cosignatures = signatures.flatMap(({ key, timestamp }) =>
    timestamp === null ? [] : [{ witness: key.name, at: new Date(timestamp * 1000).toISOString() }],
  );
  const claims = { origin: head.origin, tree_size: head.size, root_hash: head.root.toString('hex'), cosignatures };
  const unchecked = [
    'Whether the log still contains this tree head: request a consistency proof to a newer one.',
    ...others.map(({ name }) => `The signature of ${name}: give its verifier key (--witness) to check it.`),
  ];
  const report = { unsigned: { lane: [], unknown: [] }, broken: [], unchecked };
  return { kind: 'valid', claims, checks: judged.checks, report };
}

/** Verifies the checkpoint of a proof. The leaf is not checked, because only the receipt shows which one it is: see `verifyLogProof`. */
export function verifyProofAlone(text: string, jwks: Jwks, keys: NoteKeys = {}): DocumentVerification {
  const proof = splitProof(text);
  if (proof === null) return malformedDocument('This is not a proof in the format of C2SP tlog-proof.');
  const verified = verifyCheckpoint(proof.checkpoint, jwks, keys);
  if (verified.kind === 'invalid') return verified;
  const { claims, report } = verified;
  const leaf = `Whether leaf ${proof.index} is in this log: give the receipt of that leaf together with the proof (--proof).`;
  return {
    ...verified,
    claims: { ...claims, leaf_index: proof.index },
    report: { ...report, unchecked: [leaf, ...report.unchecked] },
  };
}

const NO_CHECKPOINT = 'This is not a checkpoint of a log.';

const readable: Rule<OpenedCheckpointNote> = {
  code: 'checkpoint_invalid',
  says: 'Every signature under the name of a known key was made by that key.',
  fault: ({ opened }) => {
    if (opened.kind === 'malformed') return NO_CHECKPOINT;
    return opened.kind === 'forged' ? `The signature of ${opened.key.name} is not valid for this checkpoint.` : null;
  },
};

const signedByIssuer: Rule<OpenedCheckpointNote> = {
  code: 'signature_invalid',
  says: 'A key of the key set that is not revoked signed the checkpoint under its origin (Ed25519).',
  fault: ({ opened, issuers }) =>
    unless(
      opened.kind === 'signed' &&
        opened.signatures.some(({ key }) => issuers.includes(key) && key.name === opened.head.origin),
      'No key of the key set signed this checkpoint.',
    ),
};
