import { PROOF_LINES_MAX } from '../../../subgraphs/receipt/verify/log-proof.ts';
import { EMPTY_ROOT, verifyConsistency } from '../../../subgraphs/receipt/verify/merkle-proof.ts';
import { base64Hash, decimalIn, NOTE_BYTES_MAX, splitNote } from '../../../subgraphs/receipt/verify/note.ts';
import { checkpointHead } from '../../../subgraphs/receipt/verify/open-checkpoint.ts';
import type { CosignedHead } from './cosigned-heads.ts';
import type { Cosigner, SignedCheckpoint } from './cosigner.ts';

/** The old size line, the proof's, and a note. */
export const SUBMISSION_BYTES_MAX = NOTE_BYTES_MAX + 4_096;

interface Submission {
  readonly old_size: number;
  readonly proof: readonly Buffer[];
  /** A signed note; not believed yet. */
  readonly note: string;
}

/** What add-checkpoint answers (https://c2sp.org/tlog-witness). */
export interface SubmissionAnswer {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422;
  readonly body: string;
}

export const SIZE_MEDIA = 'text/x.tlog.size';

/** Takes a checkpoint that a log submits with a proof. What was checked and what is kept are one step: see CosignedHeads. */
export async function addCheckpoint(text: string, cosigner: Cosigner): Promise<SubmissionAnswer> {
  const submission = submissionIn(text);
  if (submission === null) return refusal(400, 'this is no submission of a checkpoint');
  const { note, old_size } = submission;
  const split = splitNote(note);
  const claimed = split && checkpointHead(split.text);
  if (!claimed) return refusal(400, 'this is no checkpoint');
  if (claimed.origin !== cosigner.origin) return refusal(404, `${cosigner.origin} is witnessed here`);
  const opened = cosigner.open(note);
  if (opened.kind !== 'signed') return refusal(403, 'no trusted key has signed this checkpoint, or one did not');
  if (old_size > opened.head.size) return refusal(400, 'the old size is larger than the checkpoint');
  for (;;) {
    const newest = await cosigner.newest();
    if (old_size !== (newest?.size ?? 0)) return { status: 409, body: `${newest?.size ?? 0}\n` };
    if (!extended(submission, opened, newest)) return contradicted(submission, opened, newest, cosigner);
    const cosignature = await cosigner.cosign(newest, opened);
    if (cosignature !== null) return { status: 200, body: cosignature };
  }
}

function submissionIn(text: string): Submission | null {
  const blank = text.indexOf('\n\n');
  if (blank < 0) return null;
  const [old = '', ...lines] = text.slice(0, blank).split('\n');
  const old_size = old.startsWith('old ') ? decimalIn(old.slice('old '.length)) : null;
  const proof = lines.map(base64Hash).filter(hash => hash !== null);
  if (old_size === null || proof.length !== lines.length || proof.length > PROOF_LINES_MAX) return null;
  return { old_size, proof, note: text.slice(blank + 2) };
}

/** RFC 6962 §2.1.2. An empty tree has the hash of nothing, and of it nothing is to be proven. */
function extended({ proof }: Submission, { head }: SignedCheckpoint, newest: CosignedHead | null): boolean {
  if (head.size === 0 && !head.root.equals(EMPTY_ROOT)) return false;
  const old = { old_size: newest?.size ?? 0, old_root: newest?.root ?? EMPTY_ROOT };
  return verifyConsistency({ ...old, size: head.size, root: head.root }, proof);
}

/** A proof that does not hold proves nothing against the log: anybody may send one. Two roots of one size do. */
async function contradicted(
  { note }: Submission,
  { head }: SignedCheckpoint,
  newest: CosignedHead | null,
  cosigner: Cosigner,
): Promise<SubmissionAnswer> {
  const forked = newest !== null && newest.size === head.size && !newest.root.equals(head.root);
  if (forked) await cosigner.keepFork(newest, note, head, null);
  return refusal(422, `it is not shown that this checkpoint extends the one of ${newest?.size ?? 0} leaves`);
}

function refusal(status: 400 | 403 | 404 | 422, sentence: string): SubmissionAnswer {
  return { status, body: `${sentence}\n` };
}
