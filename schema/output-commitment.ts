import { type CanonicalText, canonicalHash, isJsonObject, type Json, type JsonObject } from './canonical-json.ts';
import { BOOK_CHAIN_VERSION, type CommitmentMaker, commitmentMakers } from './receipt-payload.ts';
import type { OutputCommitment } from './receipt-shapes.ts';
import { STAMPED_BY } from './route-words.ts';
import { wordList } from './words.ts';

/* Commitments of rows and receipts to what was delivered, and who made them. */

/** A commitment as a request states it. A fulfillment adds who made it. */
export type CommittedOutput = Omit<OutputCommitment, 'by' | 'covers'>;

/** @param covers names of the members that the hash covers; null if the issuer has not seen the output */
export function outputCommitmentOf(
  by: CommitmentMaker,
  sha256: string,
  covers: readonly string[] | null = null,
): OutputCommitment {
  return { status: 'committed', hash: sha256, kind: 'sha256', omission_rule: null, by, ...(covers && { covers }) };
}

/**
 * The part of an answer that is committed to: an object as it is sent, or one of its members that is a list, by its text if that is written
 * already. The names in `covers` follow from it: those of the object's members, or the one of the list.
 */
export type OutputToCommit =
  | { readonly output: JsonObject }
  | { readonly output: readonly Json[] | CanonicalText; readonly output_member: string };

/** Hash and `covers` of a commitment, as Work has them. */
interface CommittedWork {
  /** SHA-256 in hex, of the canonical JSON. */
  readonly output_sha256: string;
  readonly output_covers: readonly string[];
}

export function commitTo(committed: OutputToCommit): CommittedWork {
  const covers = 'output_member' in committed ? [committed.output_member] : Object.keys(committed.output).sort();
  return { output_sha256: canonicalHash(committed.output as Json | CanonicalText), output_covers: covers };
}

export function noCommitment(omission_rule: string): OutputCommitment {
  return { status: 'UNVERIFIED', hash: null, kind: null, omission_rule };
}

/** A commitment made by another party, attributed to it. */
export function attributeTo(by: CommitmentMaker, said: CommittedOutput): OutputCommitment {
  return said.status === 'committed' ? { ...said, by } : said;
}

/**
 * Who made the commitment of a receipt's payload; null if it makes none. Receipts under policies 1 to 7 do not state it: then it follows
 * from what was bought. Never throws: a foreign payload may contain anything.
 */
export function commitmentMaker({ fulfillment, hub, payload_version, reported }: JsonObject): CommitmentMaker | null {
  const { status, by } = commitmentIn(fulfillment);
  if (status !== 'committed') return null;
  if (by !== undefined) return wordList<CommitmentMaker>(commitmentMakers).find(maker => maker === by) ?? 'reporter';
  if (payload_version === BOOK_CHAIN_VERSION || reported !== undefined) return 'reporter';
  return hub === STAMPED_BY ? 'winner' : 'service';
}

/** Output commitment of a fulfillment. Empty if there is none. */
export function commitmentIn(fulfillment: Json | undefined): JsonObject {
  const said = isJsonObject(fulfillment) ? fulfillment.output_commitment : undefined;
  return isJsonObject(said) ? said : {};
}
